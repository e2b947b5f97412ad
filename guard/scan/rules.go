package scan

import "slices"

// defaults are the rules of this package.
func defaults() []Rule {
	return slices.Concat(
		overrideRules(),
		languageRules(),
		roleRules(),
		toolCallRules(),
		exfilRules(),
		secrecyRules(),
		authorityRules(),
		encodedRules(),
		hiddenRules(),
		personaRules(),
		poisoningRules(),
		shadowingRules(),
		parameterRules(),
	)
}
