// Goes to servers with the official TypeScript client of either generation, to all
// at the same time, calls tools there, one after the other, and prints the list of
// tools and each result as JSON lines that say of which visit they are. What to do
// comes as JSON on stdin:
//
//   {"packages": dir, "visits": [{"generation": "2025" | "2026", "list": true,
//    "server": {"url"} | {"command", "args", "env", "cwd"},
//    "calls": [{"name", "arguments"}], "atOnce": true, "who": "name",
//    "answer": {…}, "silent": true, "late": ms, "name": "name"}], "together": 80}
//
// atOnce makes all calls at the same time; who is what it answers to questions, or
// answer, late by so many milliseconds, or nothing where it is silent. name is what
// the client is called. A token of the server is sent along. No question is answered
// before so many together were asked, of all clients, or half a minute is over.
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const todo = JSON.parse(await text(process.stdin));
const load = path => import(pathToFileURL(join(todo.packages, '@modelcontextprotocol', path)));

let asked = 0, enough;
const together = new Promise(done => enough = done);
async function thinks() {
  if (++asked === 1) setTimeout(enough, 30_000).unref();
  if (asked >= (todo.together ?? 0)) enough();
  await together;
}

// What the server may ask for is always answered in the same way.
const answersOf = ({ who, answer, silent, late }) => ({
  elicitation: async ({ params }) => {
    await thinks();
    if (silent) return new Promise(() => {});
    if (late) await new Promise(done => setTimeout(done, late));
    if (answer) return answer;
    return params.mode === 'url' ? { action: 'accept' } : {
      action: 'accept',
      content: who ? { by: who, asked: params.message } : fill(params.requestedSchema),
    };
  },
  sampling: ({ params }) => ({
    role: 'assistant', model: 'none', stopReason: 'endTurn',
    content: { type: 'text', text: `${params.messages.length} messages` },
  }),
  roots: () => ({ roots: [{ uri: 'file:///e2e', name: 'e2e' }] }),
});

// fill makes a form's content: defaults, else something that its schema allows.
function fill(schema) {
  const content = {};
  for (const [name, p] of Object.entries(schema?.properties ?? {})) {
    const choice = p.enum?.[0] ?? p.oneOf?.[0]?.const;
    const many = p.items?.enum ?? p.items?.anyOf?.map(o => o.const);
    if (p.default !== undefined) content[name] = p.default;
    else if (choice !== undefined) content[name] = choice;
    else if (many) content[name] = many.slice(0, Math.max(1, p.minItems ?? 1));
    else if (p.type === 'boolean') content[name] = true;
    else if (p.type === 'number' || p.type === 'integer') content[name] = p.minimum ?? 1;
    else if (p.format === 'email') content[name] = 'a@example.com';
    else if (p.format === 'uri') content[name] = 'https://example.com';
    else if (p.format === 'date') content[name] = '2026-01-01';
    else if (p.format === 'date-time') content[name] = '2026-01-01T00:00:00Z';
    else content[name] = 'x'.repeat(Math.max(1, p.minLength ?? 1));
  }
  return content;
}

async function connect({ generation, server, name, ...user }) {
  const answers = answersOf(user);
  const info = { name: name || 'e2e', version: '1' };
  const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };
  let client, transports;
  if (generation === '2025') {
    const [{ Client }, http, stdio, types] = await Promise.all(
      ['index.js', 'streamableHttp.js', 'stdio.js'].map(f => load(`sdk/dist/esm/client/${f}`)).concat(load('sdk/dist/esm/types.js')));
    client = new Client(info, { capabilities });
    client.setRequestHandler(types.ElicitRequestSchema, answers.elicitation);
    client.setRequestHandler(types.CreateMessageRequestSchema, answers.sampling);
    client.setRequestHandler(types.ListRootsRequestSchema, answers.roots);
    transports = { ...http, ...stdio };
  } else {
    const [all, stdio] = await Promise.all([load('client/dist/index.mjs'), load('client/dist/stdio.mjs')]);
    client = new all.Client(info, { capabilities, versionNegotiation: { mode: 'auto' } });
    client.setRequestHandler('elicitation/create', answers.elicitation);
    client.setRequestHandler('sampling/createMessage', answers.sampling);
    client.setRequestHandler('roots/list', answers.roots);
    transports = { ...all, ...stdio };
  }
  const { url, token, ...command } = server;
  const how = token ? { requestInit: { headers: { Authorization: `Bearer ${token}` } } } : undefined;
  const transport = url
    ? new transports.StreamableHTTPClientTransport(new URL(url), how)
    : new transports.StdioClientTransport({ stderr: 'ignore', ...command });
  await client.connect(transport);
  return client;
}

async function visit(todo, say) {
  const client = await connect(todo);
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools(cursor ? { cursor } : undefined);
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor);
  if (todo.list) say({ tools });
  const call = async ({ name, arguments: args }) => {
    try {
      return { name, result: await client.callTool({ name, arguments: args }) };
    } catch (e) {
      return { name, error: { code: e.code, message: e.message, data: e.data } };
    }
  };
  if (todo.atOnce) (await Promise.all(todo.calls.map(call))).forEach(say);
  else for (const c of todo.calls ?? []) say(await call(c));
  await client.close();
}

const lines = [];
await Promise.all(todo.visits.map(async (one, visitor) => {
  const say = line => lines.push(JSON.stringify({ visitor, ...line }));
  try {
    await visit(one, say);
  } catch (e) {
    say({ failed: `${e.stack ?? e}` });
  }
}));
process.stdout.write(lines.map(l => l + '\n').join(''), () => process.exit(0));
