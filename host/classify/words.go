package classify

import "strings"

func wordsOf(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(text) {
		all[w] = true
	}
	return all
}

// reading are words of names that stand for looking at something. A name begins with
// one, or the tool does not read.
var reading = wordsOf(`
	analyze browse calculate check compare count current describe diff download estimate
	events exists explain fetch find get head health help history info inspect lint list
	logs lookup ls measure metrics now peek ping poll preview query read recent resolve
	retrieve review scan schema search select show snapshot stat statistics stats status
	suggest summarize tail top trace tree validate verify version versions view watch
	weather whoami
`)

// plainReading are words for reading that no thing is called by.
var plainReading = wordsOf(`describe fetch find get list lookup read retrieve search show`)

// things are words before the verb of a name.
var things = wordsOf(`
	api aws azure bigquery bitbucket branch branches browser calendar channel channels
	cluster collection collections column columns confluence container containers database
	databases db directory discord docker document documents drive elastic elasticsearch
	email emails event field fields figma file files folder folders gcp git github gitlab
	gmail google grafana graph index indexes issue issues jira job jobs k8s kubectl
	kubernetes linear mcp memory message messages mongo mongodb mysql namespace namespaces
	node nodes notion page pages playwright pod pods postgres postgresql pr project projects
	puppeteer pull redis repo repos repository s3 sentry service services sheet sheets slack
	snowflake spotify sql sqlite stripe supabase table tables task tasks team teams terraform
	ticket tickets user users web wiki workflow workflows youtube zendesk
`)

// writing are words that may stand for a change, wherever they are in a name. Words that
// stand for a thing as often as for a change are here too: what they cost is a tool that
// reads and has to be named in the configuration.
var writing = wordsOf(`
	abort accept ack acknowledge activate add adjust advance allocate allow alter append
	apply approve archive assign associate attach authorize backfill ban batch bind boot
	broadcast bulk buy cancel checkin checkout cherry clean cleanup clear click clone close complete
	compose confirm connect convert cordon create deactivate deallocate decline decrement
	delete demote deny deploy deprovision destroy detach disable disconnect dismiss dispatch
	do drop duplicate edit eject emit empty enable encrypt end enqueue enroll erase eval
	evaluate exec execute expand expire extend fill finish fire flush force forward freeze
	generate give heal hide ignore increment initialize inject insert install interact
	invalidate invoke join kick kill launch leave like login logout merge migrate modify
	mount mutate mute navigate new notify open optimize overwrite pause pay perform pin press
	promote propose provision prune publish pull purge push put react reassign rebase reboot
	rebuild redeploy refresh regenerate register reject reload remove rename renew reopen
	reorder repair replace reschedule reserve reset resize restart restore resume retire
	retry revert revoke rewrite rm rollback rollout rotate save scale scroll send set setup
	shell shutdown sleep snooze spawn split squash start stash stop submit subscribe suspend
	swap switch taint take terminate toggle transition trash truncate try unarchive unassign
	unban unblock uncordon undelete undo unfollow uninstall unlink unlock unmute unpin
	unpublish unregister unset unshare unsubscribe untag update upgrade upload upsert use
	vacuum wipe withdraw write yank zap
`)

// either are words for a change and for a thing. After a word that reads they are a
// thing, as in get_issue, unless a word of joining stands between: list_and_post.
var either = wordsOf(`
	block board book build capture change charge checkout claim commit copy drag drain email
	export fix follow fork format grant handle hold import index init input invite issue
	label link load lock log mark message move order patch place play post process prompt
	queue record refund release reply report request respond run schedule script share sign
	stage store sync tag test touch trade train transfer trigger turn type vote
`)

// joining are words after which a name may go on with another verb.
var joining = wordsOf(`and then or to with`)

// within are verbs that keep a tool from reading even as a part of a word: however the
// name is written, it does not hide them.
var within = []string{"delet", "creat", "updat", "remov", "drop", "exec", "check_out", "checkout", "insert", "write",
	"destroy", "overwr", "purge", "truncat"}

// changes are phrases of descriptions that speak of a change.
var changes = []string{
	"creates", "updates", "deletes", "modifies", "writes", "executes", "removes", "overwrites", "inserts", "destroys",
	"sends", "applies", "publishes", "posts ", "uploads", "arbitrary sql", "shell command", "side effect",
	"creating", "updating", "deleting", "modifying", "writing", "executing",
	"create or", "and update", "and delete", "or delete", "or update", "and create", "mark as", "marks ",
}

// carriesCode are arguments that hold a program, which may do anything.
var carriesCode = wordsOf(
	`sql query_sql statement statements command commands cmd code script expression mutation body payload`,
)
