package export

import _ "embed"

//go:embed README.txt
var readmeText string
