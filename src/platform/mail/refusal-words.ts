/**
 * Wordings of mail servers: whom a refusal speaks of, whatever its codes. This is the only list besides those
 * of refusal-languages.ts (languages besides English) and refusals.ts (one provider's own). Add a
 * wording that is judged wrongly here, and to test/platform/mail/refusal-wordings.ts.
 *
 * Sources: Postfix (smtpd_check.c, postconf(5)), Exim (its default ACLs and deliver.c; cPanel's), OpenSMTPD
 * (smtp_session.c), Sendmail (proto.m4, the dnsbl feature), qmail, netqmail and chkuser, Exchange Online's
 * list of non-delivery reports, Google's "SMTP errors and codes", Yahoo's "SMTP error codes", Mimecast's "SMTP
 * error codes", Proofpoint, Barracuda, ActiveCampaign's SMTP Field Manual (MIT), the rules of ZoneMTA
 * (bounces.txt) and KumoMTA (bounces.toml), and the real replies that the bounce parser Sisimai keeps by
 * reason (sisimai/set-of-emails).
 */
import * as languages from './refusal-languages.ts';

/**
 * Words that can only be of us: our sender, its domain or records, our host, our account. What was not found
 * then is no recipient, as in Exim's "Verification failed for <our address>, No Such User Here, Sender verify
 * failed".
 */
const OF_SENDER = [
  /\bsenders?\b|\boriginators?\b/i,
  /\b(?:mail|envelope)[ -]?from\b|\bmfrom\b|\breturn[- ]path\b/i,
  /\bfrom:? (?:header|address|domain|field)\b|\bfrom: /i,
  /\b(?:client|connecting|sending|originating|source) (?:host|ip|address|server|mta)\b|\bclient (?=host\b)/i,
  /\b(?:host|server|ip)s?\b[^.;]{0,30}\b(?:is|are) not (?:allowed|permitted|authori[sz]ed)\b/i,
  /\bnot (?:allowed|permitted|authori[sz]ed) to (?:send|connect|submit|use)\b|\b(?:may|can)(?: ?not|n['’]?t) send\b|\ballow(?:ed)? to send\b|\bdoes(?: not|n['’]?t) allow sending\b/i,
  /\b(?:reverse|rev) ?dns\b|\brdns\b|\bptr\b|\b(?:mx|spf|a\/aaaa|dkim|dmarc)\b[^.;]{0,30}\brecords?\b/i,
  /\b(?:host ?name|helo|ehlo)\b/i,
  /\byour (?:ip|host|server|mail server|network|isp|domain|remotehost|reverse|e?mail address|provider)\b/i,
  // A relay about its own customer, who is us: our account is disabled.
  /\byour (?:smtp )?(?:account|log-?in|plan|subscription|quota|credits?|api key)\b/i,
  /\b(?:outgoing|outbound) (?:e?-?mails?|messages?|smtp)\b/i,
  /\b(?:record|signature)\b.{0,40}\bnot found\b/i,
  /\b(?:spf|dkim|dmarc)\b.{0,60}\b(?:not found|no such|does(?: not|n'?t) exist|unknown|disabled)\b/i,
  /\bcall(?:out|back)\b.{0,30}\bfail|\bbackscatter\b/i,
  /\bused to send\b|\bsending (?:this )?from\b|\bsenderfilter/i,
  ...languages.OF_SENDER,
];

const MAILBOX =
  '(?:mail ?box(?:es)?|mail ?folder|mail ?drop|maildir|inbox|account|user|recipient|subscriber)';

/** The recipient's mailbox is full, or takes no more for now. */
const OF_FULL_MAILBOX = [
  new RegExp(
    `\\b${MAILBOX}\\b[^.;]{0,60}\\b(?:full|over ?quota|over (?:the |its |his |their |disk )?(?:allowed )?quota|out of (?:space|storage))\\b`,
    'i',
  ),
  new RegExp(`\\bfull ${MAILBOX}\\b|\\bover ?quota\\b`, 'i'),
  /\b(?:mail ?box|disk|disc|storage|mail|user|account|recipient)?(?:['’]s)?\s*(?:disk )?quota\b[^.;]{0,30}\b(?:exceeded|exhausted|violation|reached|usage)\b/i,
  /\b(?:exceed(?:s|ed|ing)?|reached|over)\b[^.;]{0,40}\b(?:(?:mailbox|storage|disk) ?(?:allocation|space|limit)|quota)\b/i,
  /\b(?:disk|user|domain) ?(?:disk |space )?quota\b|\bexceed\w* receiving\b|\bmail file size\b/i,
  /\b(?:mailbox|mail ?drop|inbox)\b[^.;]{0,30}\b(?:size|space|storage|local|its|the) ?(?:limit|maximum)\b/i,
  /\bmailbox\b[^.;]{0,40}\bexc?eed(?:s|ed)?\b/i,
  /\b(?:insufficient|(?:not|n['’]?t have) enough|not sufficient|no) (?:disk |mailbox |storage )?(?:space|storage)\b/i,
  /\b(?:space|storage)\b[^.;]{0,20}\b(?:used up|exhausted)\b/i,
  /\btoo much mail data\b|\btoo many messages (?:on the server|in (?:the|your|his|their) (?:mailbox|inbox))\b/i,
  // Gmail and Outlook.com: the recipient gets too much for now.
  /\bis receiving mail (?:at a rate|too quickly)\b|\brecipient\b[^.;]{0,20}\bexceeded\b[^.;]{0,60}\b(?:can|may) receive\b/i,
  new RegExp(
    `\\b${MAILBOX}\\b[^.;]{0,60}\\btemporari?l?y (?:un)?(?:locked|suspended|disabled|inactive|available|blocked|deactivated|closed|full)\\b`,
    'i',
  ),
  ...languages.OF_FULL_MAILBOX,
];

/** Words for a recipient. */
const WHO =
  '(?:user|recipient|mail[- ]?box|account|address(?:ee)?|alias|person|inbox|mail ?drop|subscriber|member|customer|local[- ]?part|e-?mail|username)';
const ENDED =
  "(?:unknown|not known|not found|(?:could ?n[o'’]?t|can ?n[o'’]?t) be found|not present|not exist(?:ing)?|non-?existent|does(?: not|n['’]?t) exist|do(?: not|n['’]?t) exist|is disabled|disabled|deactivated|inactive|inactivity|not activ(?:e|ated)|closed|suspended|discontinued|terminated|frozen|archived|retired|expired|deleted|removed|cancell?ed|unallocated|unrecogni[sz]ed|undeliverable|invalid|not (?:an? )?(?:valid|active|known|registered|local)|no longer \\w+|wrong)";

/** The recipient is unknown or closed. */
const OF_RECIPIENT = [
  // "may not exist, may be blacklisted" (cPanel) says nothing of either.
  new RegExp(`\\b${WHO}s?\\b[^.;]{0,60}?\\b(?<!may |might )${ENDED}(?![a-z])`, 'i'),
  new RegExp(
    `\\b(?:unknown|invalid|inactive|non-?existent|bad|wrong|disabled|deactivated|undeliverable|no such)\\W+(?:\\w+\\W+){0,2}?${WHO}\\b`,
    'i',
  ),
  new RegExp(
    `\\bno (?:valid )?${WHO}\\b(?:[^.;]{0,40}\\b(?:here|by that name|of that name|available)\\b| found)`,
    'i',
  ),
  new RegExp(`\\bnot (?:our|an?|any of our) (?:\\w+ ){0,2}${WHO}s?\\b`, 'i'),
  new RegExp(`\\b(?:isn['’]?t) an? (?:known|valid|local|registered) ${WHO}\\b`, 'i'),
  /\bno such\b(?! (?:domain|host|record|command|policy|key|signature|sender))/i,
  /\bno (?:one|body) (?:here |with |by |at |of )/i,
  /\bnot (?:listed )?in\b.{0,40}\b(?:directory|address book|domino|nab|recipient list|recipient table|valid ?rcpt ?to)\b/i,
  /\bbad ?r(?:cpt|ecipient)to\b/i,
  /\bdoes(?: not|n['’]?t) have an? \S+ account\b/i,
  /\bmail ?box name not allowed\b/i,
  /\brecipient (?:not ok|is not (?:local|accepted))\b|\bunknown (?:or illegal|local)\b/i,
  /\bunrecogni[sz]ed\b.{0,20}\brecipient|\bdestination address(?:es)? (?:was|were) unknown\b/i,
  ...languages.OF_RECIPIENT,
];

/** It is about us: our host, our right to send, what we send or how much of it, or that we are not wanted. */
const OF_US = [
  /\brelay(?:s|ed|ing)?\b|\bgateway(?:ing)?\b|\bprox(?:y|ies)\b|\bdon['’]?t handle mail\b|\bnot (?:a )?local host\b/i,
  /spam|\bjunk|\bunsolicited\b|\bbulk\b|\bube\b|\buce\b/i,
  /\bblock(?:s|ed|ing|list\w*)?\b|\bblack-?(?:list\w*|hole\w*)|\bblack list\b|\bban(?:ned)?\b/i,
  /\blisted\b|\b(?:dns|ur|u|sur)?[rd]?bls?\b|\bdnsbl\b|\bon (?:our|a|the) list\b|\bin an? rbl\b/i,
  /\bpolic(?:y|ies)\b|\bprohibit|\badministrative(?:ly)?\b|\borganizational settings\b/i,
  /\breputation\b|\bsuspicious|\bsuspected\b|\babus(?:e|ive)\b|\bcomplain|\bspoof|\bforged?\b|\bfake\b/i,
  /\b(?:spf|dkim|dmarc|arc|batv|dsns?)\b|\bunsigned\b|\bpurported\b|\bthird[- ]party\b/i,
  /\bips?\b|\bdns\b|\bcname\b|\bdynamic\b|\bpatterns?\b|\bfully[- ]qualified\b/i,
  // 5.1.2 is the recipient's domain.
  /^(?!\d{3}[ -]#?5\.1\.2\b).*\b(?:name ?server|(?:invalid|unknown|bad|specified) domain|domain\b[^.;]{0,30}\b(?:not found|does(?: not|n['’]?t) exist|is(?: not|n['’]?t) (?:valid|allowed)|unknown))\b/i,
  /authenticat|\bauth(?:oris|oriz)ed\b|\bunauth(?:oris|oriz)ed\b|\bcredentials?\b|\blog ?-?in (?:first|required)\b/i,
  /\bnot (?:permitted|allowed (?:to|in)|welcome|wanted|verified|subscribed)\b|\bpermissions?\b|\bden(?:y|ied)\b|\bforbidden\b|\bno access\b|\ballowed access\b/i,
  /\bverification\b|\bunverified\b|\brestrict\w*|\bprotected by\b|\brule imposed\b|\bresolver\.rst\b|\bconfirm/i,
  /\brcpthosts?\b|\bmembers?-only\b|\bmailing list\b|\bmass mail/i,
  /\b(?:not|n['’]?t) (?:be )?accept(?:ed|ing)?\b[^.;]{0,40}\bfrom\b/i,
  /\b(?:by|refuses|of) (?:the |this |your |our )?(?:recipients?|users?)\b|\brecipient preferences\b|\b(?:user|recipient) (?:rules|entry|refuse[sd]? to)\b/i,
  /\brate ?limit|\bthrottl|\bfrequency\b|\bslow(?:er|ly| down)\b|\bconnection limit\b|\bconnexions?\b|\bpriority\b|\bnumerous\b|\btoo (?:many|much|fast|quickly)\b|\bper (?:second|minute|hour|day)\b|\b(?:daily|hourly|sending) (?:\w+ )?(?:limit|quota)\b|\bcredits?\b/i,
  /\bvirus|\bmalware\b|\bphish|\bcontents?\b|\battachment|\bexecutable|\bbase64\b|\bheaders?\b|\bfilter|\bhas detected\b/i,
  /\b(?:e?-?mails?|messages?|connections?|transactions?|service|network|access)\b[^.;]{0,30}\b(?:rejected|refused|discarded|denied|dropped|reset|unavailable|not (?:accepted|allowed|available))\b/i,
  /\b(?:transaction|auth)\b[^.;]{0,30}\bfailed\b|\bdeferred\b|\bverify your\b|\bmail \S+ is rejected\b|\bcomply\b|\byour (?:country|location|region)\b/i,
  /\b(?:reject|refus)(?:ed|ing|e|s)? (?:this |the |your )?(?:e?-?mails?|messages?|connections?|service)\b|\bnot accepting (?:connections|messages|mail from)\b/i,
  /^\d{3}(?:[ -]\d\.\d+\.\d+)?\W*(?:rejected|refused|no(?: thanks?)?|go away|not (?:ok|accepted|allowed))(?:\W*$| - see\b)/i,
  /\bsyntax error\b|\bprotocol\b|\bsequence\b|\b(?:non)?compliant\b|\bnoncompliant|\bviolat|\bmultiple addresses\b|\bloop(?:s|ing)?\b|\bhops?\b/i,
  /\b(?:start)?tls\b|\bencrypt/i,
  ...languages.OF_US,
];

/** Links and names of lists of senders. */
const OF_LISTS =
  /\bspamhaus|\bspamcop|\bsorbs\b|\bbarracuda|\bcloudmark|\buribl|\bsurbl|\bproofpoint|\bsenderscore|\bmail-abuse\b|\binvaluement|\b(?:spam|block|black|rbl|dnsbl|delist)\w*\.[a-z]|noncompliant/i;

/** Nobody is there, where the reply says nothing else (Outlook.com, GMX, Comcast). */
const OF_UNAVAILABLE =
  /\b(?:mail ?box|recipient|account|user)s? (?:is |was |are )?(?:not available|unavail?able)\b/i;

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
/** A server speaks of the network, and no reply came. */
const OF_NETWORK =
  /\bconnect(?:ion|ed)?\b[^.;]{0,80}\b(?:refused|timed out|reset|lost|closed)\b|\bno route to host\b|\bname service error\b/i;

/**
 * Whom a refusal's words speak of: `us` certainly (`sender`), a full mailbox, an unknown or closed recipient,
 * us, or a recipient who is not there. The first that fits, or null.
 */
export type SpokenOf = 'sender' | 'full' | 'recipient' | 'us' | 'unavailable' | null;

export function spokenOf(words: string): SpokenOf {
  const named = withoutNames(words);
  const plain = named.replace(URLS, 'link');
  const says = (patterns: readonly RegExp[]): boolean => patterns.some((pattern) => pattern.test(plain));
  if (says(OF_SENDER)) return 'sender';
  if (says(OF_FULL_MAILBOX)) return 'full';
  if (says(OF_RECIPIENT)) return 'recipient';
  if (says(OF_US) || OF_LISTS.test(named)) return 'us';
  return OF_UNAVAILABLE.test(plain) ? 'unavailable' : null;
}

/** Whether a relay has taken as much as it does in a day or an hour. */
export function speaksOfQuota(words: string): boolean {
  const plain = withoutNames(words);
  return OF_QUOTA.some((pattern) => pattern.test(plain));
}

export function speaksOfExpiry(words: string): boolean {
  return OF_EXPIRY.some((pattern) => pattern.test(words));
}

export function speaksOfNetwork(words: string): boolean {
  return OF_NETWORK.test(words);
}

const URLS = /\bhttps?:\/\/\S+/gi;
/** Marks of Latin, Greek and Cyrillic letters. */
const MARKS = /[\u0300-\u036f]/g;

/**
 * Letters without their marks. Addresses and host names are left out: `policy@example.org` says nothing of a
 * policy.
 */
function withoutNames(words: string): string {
  return words
    .normalize('NFD')
    .replace(MARKS, '')
    .normalize('NFC')
    .replaceAll('\u0131', 'i')
    .replace(/\s+/g, ' ')
    .replace(/[^\s<>"'(),;:@]{1,64}@[^\s<>"'(),;:@]{1,255}/g, 'address')
    .replace(/[^\s[\]]{1,255}\[[\da-f.:]{1,45}\](?::\d+)?/gi, 'host');
}
