package scan

// toolCallRules find markup of calls.
func toolCallRules() []Rule {
	return []Rule{
		{
			ID: "toolcall-markup", Family: ToolCall,
			Pattern: `<(?:/?tool_calls?|/?function_calls?|/?tool_use|/?tool_result|/?function_results?|/?tool_response|/?tool_code|invoke name=|antml:|function=)`,
			Hits:    []string{"<tool_call>{}</tool_call>"},
			Misses:  []string{"<toolbar>", "<function>"},
		},
		{
			ID: "toolcall-json", Family: ToolCall,
			Pattern: `\"(?:tool_calls|function_call|tool_use)\" ?: ?[\[{\"]`,
			Hits:    []string{"{\"tool_calls\": [1]}"},
			Misses:  []string{"\"tools\": []"},
		},
	}
}
