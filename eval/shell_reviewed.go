package main

import (
	"crypto/sha256"
	"encoding/hex"
)

// commandDigest names a command without showing it: the data is not ours.
func commandDigest(command string) string {
	sum := sha256.Sum256([]byte(command))
	return hex.EncodeToString(sum[:8])
}

// shellReviewed are commands that are said to change something, or not known to
// be safe, that are judged ReadOnly, and that were read one by one: by their
// digests, with why the judgement is right.
func shellReviewed() map[string]string {
	reasons := make(map[string]string)
	for why, digests := range map[string][]string{
		"asks git for its state; what configuration could run is switched off": {
			"c96885f0a85f64c6", "5079ab293bb2afcc", "e85ae04a9104019a", "bd6fb4dcf16a0683", "ad91aa8f65842618",
		},
		"prints what it makes of its input, and changes no file": {
			"19bbc57c021ecbfd", "04f1be3647268426", "0c3a9895173e22a7", "15aef7fc2f68b9dc", "1b5b2215e565c359", "1e521a70e0424253",
			"2a0144b9c5702f44", "2f8a5edf4594845e", "307dfeb6198466ac", "327ab75dbe4fd6c0", "32f59db31e995b94", "376fcd69859e0c0c",
			"4118ac0be46cd93c", "43c5ce21fb521278", "452972a259e13e1a", "4715ef48692b6de4", "0053c1f3ed1bcbf2", "046eb7cc90617462",
			"06fa19f87bc4bd30", "0c9f9a4c7e3337d7", "0ff2626435391342", "1472a5d75b08d063", "14db91e312923733", "17ba410fa0f38a91",
			"1af5831a68635e44", "1c25569957701e4e", "1f16ab23f48bf5e5", "23453a9deaa799cb", "2981957fdaaad930", "2ce7027db2de4935",
			"2cf9243fcee97e46", "2edc882f71509e03", "37b240eb780e9cf1", "38dec11a7d911bfd", "38fdacb2ff9072ee", "3b69a8b7600f01f9",
			"3cd297435a75934f", "3d1547ef03792174", "42ec70c5272eba44", "4f812490742b2533", "50239abfb8dcc412", "52ef905016e7189a",
			"5545d944c099293f", "5e05c703d731ddfa", "621c259d4798c3cd", "62c497714f6b76c6", "6604ee51bb7f2b91", "7c17e218285816bf",
			"7e592ed818af432f", "875c7156e1fc4069", "88071320a1047717", "884539e027cfd9cd", "8acc97eb3ac5c15c", "8ad9aa4c8b50f763",
			"8b9b47bfb9f27416", "94db7456ebf3642a", "9587828fdc2f859f", "a05ab7e59853f727", "a49a37b81ac31042", "a746810e698060b2",
			"a9662dd79be2869f", "abfb6c1bd46b99e1", "b08bdcc61d02bcfb", "b3c5aafcadddf336", "b3eb61a0d2cf0d6c", "b6c2a26c94ae2bd7",
			"b71340621dae90a6", "bd310b961a49999e", "c15c5c321d40446c", "c26e06cd96c2990f", "c4c55477df02d11a", "caf0b5a8baf7460c",
			"d481c4f0b8a7506a", "d5ac507d0312a0a7", "d6337a451fe36927", "da18b93a68a0c96c", "dd1bdfc55f1ca4dc", "e3d80df946b1298d",
			"ece8318b69204089", "edb34f2e2719b727", "f1590df9b2ae8d0d", "ff1d9197adb4a5d2", "ff6b2329d4ca80a6", "ffec50bddce75d87",
		},
		"changes only the shell, which ends with the line": {
			"00308c734a02d0be", "00ca21bf434e8054", "03b860cac0e31284", "0b6c1acf0f3f97b3", "0b99c2d3ff324c95", "23e000dbf1df2f86",
			"2943b9d2a19427f9", "307b5c987b082ba3", "579f936fa5b3c83a", "825769eed1c7cd65", "8f7992ee0c4e36eb", "9a0eb1bcb8221346",
			"c06205f8374b582c", "c3262ba828423bda", "cf86d035f3156e2f", "df583a2b40448271", "e2831a334308426a", "eadad3ec9d0a9660",
			"ecdcec580d8a6069", "ed1d59238df70086", "edc63ac88049246d", "fa1d6c07540c7d1b",
		},
		"fills a variable of a shell that ends with the line": {
			"0388a7851c267923", "056c85bad8607d52", "05c075026d1eeeea", "06805b976db1ebb5", "099ca39aa50f4a18", "0bf2c135b8ac1ad7",
			"0c93434166d7f1f1", "0f962a1f8198c459", "11cd860bf17a890b", "14cb7d7e5c31bb2d", "15e1f52b8d00c5ac", "18c27babde3e86fc",
			"19c9ae1e3a5ad285", "1ef4b6441a6e5b74", "2134b3d4f6a04162", "27e708fdfbe9b2d6", "31ea0026c12d4a90", "3c9bd26693c1cd3d",
			"3ddbc309ce322e7c", "402692f794cdfd76", "4c1aa3be430a7fc6", "50d81ba6744e9a98", "5399788f4376a576", "53d9a3a54464ecef",
			"5423b5be78b201c4", "574427ad0311c1fe", "5dba92970dd53463", "5e3497d63250938e", "5f8bfbb509b58907", "607cf74e76230c9a",
			"6434371068f8915c", "695abfaf501319b4", "747b1e58728a13b1", "7a95248e1e63289d", "810ea0fea43671bb", "8cc81beb19da6b28",
			"8f7ae0487a6e7875", "915d386bad55190d", "92b01d0860c76ad1", "962c97d3039d07d5", "9c330723603effca", "9d6f14beb78fa36a",
			"a04554072b5d386c", "a435c91b34c5cda6", "ab39607167611630", "ae7547b411091637", "b45f51537b660313", "b4c7f3b59b080cf2",
			"b785f3c8a607a7cc", "b8c8e8511d401242", "bdfe343125d1711e", "c13c9247fe417939", "c62c8f8d38f74b21", "cdeb02e69ec99cfc",
			"ce8d86dfec7e20fd", "d1355264e10aaf22", "d1ee4f6fc04ea763", "e1140461f1bda142", "e2422bb070894b78", "e52115fb9a7b9f3e",
			"e7cdaa9ed2e58e79", "e971c448db83ccb9", "eb07e2b4d40e234b", "f180d227e1b9ac0c", "f49e4ca501d370af", "f4bd95fb78131709",
			"f77de71d8e0f8348",
		},
		"packs or unpacks to standard output": {
			"088b249f9a67ee6a", "32d999fcaf55fb50", "3a289d261c652ac5", "5d009af0a862fe32", "8517b42e4685663f", "a1d8ea5eb26f185a",
			"bf3142abd751d4ea", "c8d77bf4d8b1a10d", "f5e52b5bde3237e5",
		},
	} {
		for _, d := range digests {
			reasons[d] = why
		}
	}
	return reasons
}
