package sandbox

const roleName = "role"

func play(args []string) int { return 0 }
