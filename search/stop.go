package search

// stopped says that a word is too common in questions to say what is looked for.
// Words that name what a tool does (get, find, list) are not among them: the
// index counts how many tools have them.
func stopped(w []byte) bool {
	switch string(w) { // the compiler makes this a search by length
	case "a", "an", "the", "this", "that", "these", "those", "some", "any", "all", "each", "every", "both", "such", "other", "another",
		"i", "you", "me", "my", "we", "us", "our", "your", "yours", "mine", "it", "its", "he", "she", "him", "her", "his", "they", "them", "their",
		"is", "are", "be", "was", "were", "been", "being", "am", "do", "does", "did", "done", "has", "have", "had", "having",
		"can", "could", "would", "should", "will", "shall", "may", "might", "must", "cannot", "cant", "dont", "doesnt", "isnt", "wont",
		"im", "ive", "id", "ill", "lets", "let", "whats", "thats",
		"of", "to", "in", "for", "and", "or", "with", "on", "by", "from", "as", "at", "into", "onto", "about", "over", "under", "between", "within", "through", "during",
		"if", "then", "than", "so", "but", "not", "no", "also", "just", "only", "very", "too", "there", "here", "when", "where", "while", "because",
		"what", "which", "who", "whom", "whose", "how", "why",
		"please", "want", "need", "like", "help", "know", "tell", "give", "looking", "interested", "trying", "try", "planning", "going", "got", "currently",
		"hi", "hello", "hey", "thanks", "thank",
		"provide", "provided", "specified", "given", "based", "including", "e", "g", "eg", "etc":
		return true
	}
	return false
}
