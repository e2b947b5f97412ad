// Package cedar is a policy made of rules in Cedar, the language of
// https://www.cedarpolicy.com, and of short rules that it turns into Cedar.
//
// A call is a request of a principal to call a tool:
//
//	principal  Principal::"local", with tenant
//	action     Action::"call"
//	resource   Tool::"github__search", in Source::"github" (the program itself:
//	           Source::"") and in a Tag::"…" for each tag; with name, own_name,
//	           source, trust, trust_level (0 inbound to 6 built-in), tags,
//	           needs_user
//	context    session, client, agent, tenant, attended, mode,
//	           claims (read_only, parallel, reversible, local, idempotent,
//	           destructive, class, side_effect),
//	           args (the arguments), covered and met (what short rules say)
//
// A permit allows, one with @ask asks, and a forbid denies. Deny beats ask beats
// allow; where no rule fits the policy is silent. A rule that fails denies,
// whatever its effect.
//
//	@id("reads")
//	permit (principal, action, resource) when { context.claims.read_only };
//
//	@ask("it leaves this machine")
//	permit (principal, action, resource in Tag::"web");
//
//	@reason("see the runbook") @message("Use the staging table.")
//	forbid (principal, action, resource == Tool::"sql")
//	when { context.args.table like "prod_*" };
//
// The value of @ask is the reason that a person is shown; @reason is that of any
// other rule, and @message is what the model reads when the call does not run.
// @id names the rule; @short holds the text of a short rule.
//
// Tool::"…" and name are what models call a tool; own_name is what its source
// does, with the source in front, where that has a dot or is longer: db.drop or
// github__db.drop. What is no name, type, annotation or word that there is, is an
// error, since a rule that never fits does not forbid.
//
// Arguments are read by name. Objects are records, arrays are sets. A rule that
// reads, or looks for, an argument which Cedar cannot hold fails: one that is
// null or has null in it, or a number that is not whole or beyond 64 bits, or
// more than 4,096 values; or more than 32 KiB of text where some rule compares it
// with like.
//
// Commands, paths and hosts are not looked for in arguments: of what stands in
// the parentheses of a short rule, context.covered contains what covers the
// call, for rules that allow, and context.met what it meets, for those that ask
// or deny; see [policy.Rule]. With ! and in unless it is the other way round. What
// is not known is met and not covered, so any other use is an error.
//
//	permit (principal, action, resource == Tool::"shell")
//	when { context.covered.contains("git status*") };
//
//	forbid (principal, action, resource)
//	when { context.met.contains("path: /etc/**") };
//
// Rules are narrowed once for each tool and what they read of callers: [Set.Fixed]
// is what remains the same for all arguments.
package cedar
