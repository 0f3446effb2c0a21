package expression

// FunctionHelp says how each function is written and what it returns, for editors.
var FunctionHelp = map[string][2]string{
	"env": {`env(NAME, FALLBACK)`, "A variable of the environment. An unset one without a fallback is an error."},
	"file": {`file(PATH)`,
		"The content of a file without its last line end. A relative path starts at the configuration file."},
	"keyring": {`keyring("NAME")`,
		"A secret that `junctor secret set NAME` has stored. It is read when a connection is opened."},

	"try": {`try(EXPRESSION, ...)`, "The first expression that can be computed."},
	"can": {`can(EXPRESSION)`, "Whether an expression can be computed."},

	"startswith": {`startswith(TEXT, PREFIX)`, "Whether a text begins with another."},
	"endswith":   {`endswith(TEXT, SUFFIX)`, "Whether a text ends with another."},
	"join":       {`join(SEPARATOR, LIST)`, "The texts of a list with a separator between them."},
	"split":      {`split(SEPARATOR, TEXT)`, "The parts of a text between the separators."},
	"upper":      {`upper(TEXT)`, "A text in upper case."},
	"lower":      {`lower(TEXT)`, "A text in lower case."},
	"trim":       {`trim(TEXT, CHARACTERS)`, "A text without the given characters at both ends."},
	"trimspace":  {`trimspace(TEXT)`, "A text without white space at both ends."},
	"trimprefix": {`trimprefix(TEXT, PREFIX)`, "A text without a prefix."},
	"trimsuffix": {`trimsuffix(TEXT, SUFFIX)`, "A text without a suffix."},
	"replace":    {`replace(TEXT, OLD, NEW)`, "A text in which one part is replaced everywhere."},
	"format":     {`format(FORMAT, VALUE, ...)`, "A text with values in place of verbs such as %s and %d."},

	"concat":   {`concat(LIST, ...)`, "The elements of several lists."},
	"contains": {`contains(LIST, VALUE)`, "Whether a list has an element."},
	"merge":    {`merge(MAP, ...)`, "The members of several maps. The last one wins."},
	"keys":     {`keys(MAP)`, "The keys of a map, sorted."},
	"values":   {`values(MAP)`, "The values of a map, in the order of the keys."},
	"length":   {`length(VALUE)`, "The number of elements, or of characters of a text."},
	"lookup":   {`lookup(MAP, KEY, FALLBACK)`, "A member of a map, or the fallback."},
	"flatten":  {`flatten(LIST)`, "A list with the elements of the lists in it."},
	"distinct": {`distinct(LIST)`, "A list with each element once."},
	"sort":     {`sort(LIST)`, "The texts of a list in order."},
	"coalesce": {`coalesce(VALUE, ...)`, "The first value that is not null."},
	"compact":  {`compact(LIST)`, "A list of texts without the empty ones."},
	"range":    {`range(START, LIMIT, STEP)`, "A list of at most 1024 numbers."},
	"min":      {`min(NUMBER, ...)`, "The smallest number."},
	"max":      {`max(NUMBER, ...)`, "The largest number."},

	"jsonencode":   {`jsonencode(VALUE)`, "A value as JSON."},
	"jsondecode":   {`jsondecode(TEXT)`, "The value of JSON."},
	"base64encode": {`base64encode(TEXT)`, "A text in base64."},
	"base64decode": {`base64decode(TEXT)`, "The text of base64."},

	"tostring": {`tostring(VALUE)`, "A value as a text."},
	"tonumber": {`tonumber(VALUE)`, "A value as a number."},
	"tobool":   {`tobool(VALUE)`, "A value as true or false."},
	"tolist":   {`tolist(VALUE)`, "A value as a list."},
	"tomap":    {`tomap(VALUE)`, "A value as a map."},
}
