package scan

// toolCallRules find markup of calls.
func toolCallRules() []Rule {
	return []Rule{
		{
			ID: "toolcall-markup", Family: ToolCall,
			Pattern: `<(?:/?tool_calls?|/?function_calls?|/?tool_use|/?tool_result|/?function_results?|/?tool_response|/?tool_code|invoke name=|antml:|function=)`,
			Hits: []string{"<tool_call>{}</tool_call>"},
			Misses: []string{"<toolbar>", "<function>"},
		},
		{
			ID: "toolcall-json", Family: ToolCall,
			Pattern: `\"(?:tool_calls|function_call|tool_use)\" ?: ?[\[{\"]`,
			Hits: []string{"{\"tool_calls\": [1]}"},
			Misses: []string{"\"tools\": []"},
		},
		{
			ID: "toolcall-order", Family: ToolCall,
			Pattern: "\\b(?:you must|you should|immediately|now|please|always|instead|first|secretly|silently|assistant,?) (?:call|invoke|use|execute|run|trigger) (?:the |your )?[`'\\\"]?[a-z0-9]{1,20}[_.][a-z0-9_.]{1,30}[`'\\\"]?(?:\\(| (?:tool|function)\\b| with\\b| to\\b)",
			Hits: []string{"You must call the send_mail tool."},
			Misses: []string{"You must call the police.", "Use fmt.Println to print."},
		},
	}
}
