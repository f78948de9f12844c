/**
 * Wordings of mail servers, for refusals whose code does not say whom they are about. This is the only list.
 * Add a wording that is judged wrongly here, and to test/platform/mail/refusal-wordings.ts.
 *
 * Sources: Postfix (smtpd_check.c, postconf(5)), Exim (its default ACLs and deliver.c; cPanel's), OpenSMTPD
 * (smtp_session.c), Sendmail (proto.m4, the dnsbl feature), qmail and netqmail (qmail-smtpd.c), Exchange
 * Online's list of non-delivery reports, Google's "SMTP errors and codes", Yahoo's "SMTP error codes",
 * Mimecast's "SMTP error codes", Proofpoint, Barracuda, and the real replies that the bounce parser Sisimai
 * keeps by reason (sisimai/set-of-emails).
 */

/**
 * The sender, its host or its log-in was checked. These come first: what was not found then is no recipient,
 * as in Exim's "Verification failed for <our address>, No Such User Here, Sender verify failed".
 */
const OF_SENDER = [
  /\bsender\b/i,
  /\bmail ?from\b/i,
  /\bclient host\b/i,
  /\b(?:reverse|rev) ?dns\b|\brdns\b|\bptr\b/i,
  /\b(?:host ?name|helo|ehlo)\b/i,
  /\byour (?:ip|host|server|mail server|network|isp|domain|remotehost|reverse|e?mail address)\b/i,
  // A relay about its own customer, who is us: our account is disabled.
  /\byour (?:smtp )?(?:account|log-?in|plan|subscription|quota|credits?|api key)\b/i,
  /\b(?:record|signature)\b.{0,40}\bnot found\b/i,
  /\b(?:spf|dkim|dmarc)\b.{0,60}\b(?:not found|no such|does(?: not|n'?t) exist|unknown|disabled)\b/i,
  /\bcall(?:out|back)\b.{0,30}\bfail/i,
];

/** Words for a recipient. */
const WHO =
  '(?:user|recipient|mail ?box|account|address(?:ee)?|alias|person|inbox|mail ?drop|subscriber|member|local[- ]?part|e-?mail)';
const ENDED =
  "(?:unknown|not known|not found|not exist(?:ing)?|does(?: not|n['’]?t) exist|disabled|deactivated|inactive|not active|closed|suspended|discontinued|terminated|invalid|not (?:a )?valid|no longer \\w+)";

/** The recipient is unknown or closed. These win over all that follow. */
const OF_RECIPIENT = [
  // "may not exist, may be blacklisted" (cPanel) says nothing of either.
  new RegExp(`\\b${WHO}s?\\b[^.;]{0,60}?\\b(?<!may |might )${ENDED}(?![a-z])`, 'i'),
  new RegExp(
    `\\b(?:unknown|invalid|inactive|non-?existent|bad|disabled|no such)\\W+(?:\\w+\\W+){0,2}?${WHO}\\b`,
    'i',
  ),
  new RegExp(`\\bno (?:valid )?${WHO}\\b(?:[^.;]{0,40}\\b(?:here|by that name|of that name)\\b| found)`, 'i'),
  new RegExp(`\\b(?:not|isn['’]?t) a (?:known|valid|local|registered) ${WHO}\\b`, 'i'),
  /\bno such\b(?! (?:domain|host|record|command|policy|key|signature))/i,
  /\bnot listed in\b.{0,40}\b(?:directory|address book|domino|nab)\b/i,
  /\bdoes(?: not|n['’]?t) have an? \S+ account\b/i,
  /\bmailbox name not allowed\b/i,
];

/** The recipient's mailbox is full, as the code 5.2.2 says. */
const OF_FULL_MAILBOX = [
  /\b(?:mailbox|mail ?folder|inbox|maildir|account|user|recipient)\b[^.;]{0,60}\b(?:full|over ?quota|over (?:the |its |disk )?quota|out of (?:space|storage))\b/i,
  /\b(?:mail ?box|disk|storage|mail)?\s*quota\b[^.;]{0,30}\b(?:exceeded|exhausted|violation)\b/i,
  /\bexceed(?:s|ed|ing)?\b[^.;]{0,30}\b(?:mailbox|storage|disk) ?(?:allocation|quota|space|limit)?\b/i,
  /\b(?:insufficient|not enough) (?:disk |mailbox |storage )?(?:space|storage)\b/i,
];

/** It is about us: our host, our right to send, what we send or how much of it. */
const OF_US = [
  /\brelay(?:s|ed|ing)?\b/i,
  /spam|\bjunk|\bunsolicited\b|\bbulk\b|\bube\b|\buce\b/i,
  /\bblock(?:s|ed|ing|list\w*)?\b|\bblack-?(?:list\w*|hole\w*)|\bban(?:ned)?\b/i,
  /\blisted\b|\b(?:dns|ur|u|sur)?[rd]?bls?\b|\bdnsbl\b|\bon (?:our|a|the) list\b/i,
  /\bpolic(?:y|ies)\b|\bprohibit|\badministrative(?:ly)?\b/i,
  /\breputation\b|\bsuspicious|\babus(?:e|ive)\b|\bcomplain/i,
  /\b(?:spf|dkim|dmarc)\b/i,
  /authenticat|\bauth(?:oris|oriz)ed\b|\bunauth(?:oris|oriz)ed\b|\bcredentials?\b|\blog ?-?in (?:first|required)\b/i,
  /\bnot (?:permitted|allowed to|welcome)\b|\bpermission\b|\baccess denied\b|\bdenied\b/i,
  /\brcpthosts\b/i,
  /\b(?:not|n['’]?t) (?:be )?accept(?:ed|ing)?\b[^.;]{0,40}\bfrom\b/i,
  /\brate ?limit|\bthrottl|\btoo (?:many|much|fast|quickly)\b|\bper (?:second|minute|hour|day)\b|\b(?:daily|hourly|sending) (?:\w+ )?(?:limit|quota)\b|\bcredits?\b/i,
  /\bvirus|\bmalware\b|\bphish|\bcontent\b|\battachment|\bheaders?\b/i,
  /\bmessage\b[^.;]{0,30}\b(?:rejected|refused|discarded|denied|dropped|not accepted)\b/i,
  /\b(?:start)?tls\b|\bencrypt/i,
];

/**
 * A daily or hourly allowance is used up: Gmail ("Daily user sending quota exceeded"), SES ("Daily message
 * quota exceeded"), cPanel's Exim ("exceeded the max emails per hour"), Zoho and OVH ("sending limit for the
 * day"), Mailgun ("hourly limit").
 */
const LIMIT = '(?:limit|quota|allowance|maximum|max|exceed(?:s|ed|ing)?|reached|too (?:many|much))';
const SPAN = '(?:day|hour|24 ?(?:hours?|h))';
const OF_QUOTA = [
  new RegExp(`\\b(?:daily|hourly|24[- ]?hours?)\\b[^.;]{0,60}\\b${LIMIT}\\b`, 'i'),
  new RegExp(`\\b${LIMIT}\\b[^.;]{0,60}\\b(?:daily|hourly|to-?day)\\b`, 'i'),
  new RegExp(`\\b${LIMIT}\\b[^.;]{0,60}(?:\\b(?:per|an?|each|every|this|the|in|last) |/ ?)${SPAN}\\b`, 'i'),
  new RegExp(`(?:\\b(?:per|each|every) |/ ?)${SPAN}\\b[^.;]{0,60}\\b${LIMIT}\\b`, 'i'),
  /\b(?:sending|submission|outgoing|outbound|smtp|relay(?:ing)?) (?:quota|allowance)\b/i,
  /\bquota (?:for|of) (?:sending|outgoing|outbound|submission)\b/i,
];

/** A server gave up after a trouble that might have passed. */
const OF_EXPIRY = [
  /\bretry (?:timeout exceeded|time not reached)\b/i,
  /\b(?:message|delivery(?: time)?|queue\w*)[. ]?expired\b/i,
  /\b(?:in (?:the |my )?queue|undeliverable) (?:for )?too long\b/i,
  /\bfailing for a long time\b|\bgiving up on\b/i,
  /\bunable to deliver (?:this |the )?message (?:for|within|after)\b/i,
];

/** Whom a refusal's words are about, or null. `sender` and `us` are our side; `sender` is certain. */
type SpokenOf = 'sender' | 'full' | 'recipient' | 'us' | null;

export function spokenOf(words: string): SpokenOf {
  const plain = withoutNames(words);
  const says = (patterns: readonly RegExp[]): boolean => patterns.some((pattern) => pattern.test(plain));
  if (says(OF_SENDER)) return 'sender';
  if (says(OF_RECIPIENT)) return 'recipient';
  // A limit of what we may send is called a quota too.
  if (says(OF_US)) return 'us';
  return says(OF_FULL_MAILBOX) ? 'full' : null;
}

/** Whether a relay has taken as much as it does in a day or an hour. */
export function speaksOfQuota(words: string): boolean {
  const plain = withoutNames(words);
  return OF_QUOTA.some((pattern) => pattern.test(plain));
}

export function speaksOfExpiry(words: string): boolean {
  return OF_EXPIRY.some((pattern) => pattern.test(words));
}

/** Addresses and host names are left out: `policy@example.org` says nothing of a policy. */
function withoutNames(words: string): string {
  return words
    .replace(/\s+/g, ' ')
    .replace(/[^\s<>"'(),;:@]{1,64}@[^\s<>"'(),;:@]{1,255}/g, 'address')
    .replace(/[^\s[\]]{1,255}\[[\da-f.:]{1,45}\](?::\d+)?/gi, 'host');
}
