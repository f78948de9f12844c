/**
 * What real servers say when they refuse, and whom it is about. Taken from their sources and manuals, and from the collection of
 * the bounce parser Sisimai; names and addresses are invented. At RCPT, unless the wording is of the content.
 */
import type { RefusalSubject } from '../../../src/platform/mail/refusals.ts';

export interface Wording {
  reply: string;
  about: RefusalSubject | null;
}

const about = (subject: RefusalSubject | null, replies: readonly string[]): Wording[] =>
  replies.map((reply) => ({ reply, about: subject }));

export const WORDINGS: Readonly<Record<string, readonly Wording[]>> = {
  Postfix: [
    ...about('recipient', [
      '550 5.1.1 <ann@example.org>: Recipient address rejected: User unknown in local recipient table',
      '550 5.1.1 <ann@example.org>: Recipient address rejected: User unknown in virtual mailbox table',
      '550 5.1.1 <ann@example.org>: Recipient address rejected: undeliverable address: unknown user: "ann"',
      '550 5.1.6 <ann@example.org>: Recipient address rejected: User has moved to ann@example.net',
      '550 <ann@example.org>: User unknown in local recipient table',
      '550 5.1.0 <ann@example.org>: Recipient address rejected: User unknown in relay recipient table',
    ]),
    ...about('mailbox', [
      '550 5.1.0 <news@shop.example>: Sender address rejected: User unknown in virtual mailbox table',
      '554 5.7.1 <ann@example.org>: Relay access denied',
      '554 5.7.1 Service unavailable; Client host [203.0.113.9] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/203.0.113.9',
      '550 5.1.8 <news@shop.example>: Sender address rejected: Domain not found',
      '550 5.7.25 Client host rejected: cannot find your hostname, [203.0.113.9]',
      '554 5.7.1 <unknown[203.0.113.9]>: Client host rejected: Access denied',
      '553 5.7.1 <news@shop.example>: Sender address rejected: not owned by user shop',
      '504 5.5.2 <shop>: Helo command rejected: need fully-qualified hostname',
      '550 5.7.23 <ann@example.org>: Recipient address rejected: Message rejected due to: SPF fail - not authorized',
      '550 5.7.1 <ann@example.org>: Recipient address rejected: Policy Rejection- Abuse. Go away.',
    ]),
    ...about('full', ['552 5.2.2 <ann@example.org>: Recipient address rejected: mailbox is full']),
    ...about('message', ['552 5.3.4 Message size exceeds fixed limit']),
    ...about(null, [
      '450 4.2.0 <ann@example.org>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/help/example.org.html',
      '451 4.3.0 <ann@example.org>: Temporary lookup failure',
    ]),
  ],
  Exim: [
    ...about('recipient', [
      '550 Unrouteable address',
      '550 Unknown user',
      '550 No Such User Here',
      '550-Verification failed for <ann@example.org>\n550-No Such User Here\n550 Address unknown',
      '550 Mailbox ann@example.org does not exist',
    ]),
    ...about(null, [
      '550 Domain shop.example has exceeded the max emails per hour (150/100 (150%)) allowed. Message discarded.',
    ]),
    ...about('mailbox', [
      '550 relay not permitted',
      '550 Administrative prohibition',
      '550 Sender verify failed',
      '550-Verification failed for <news@shop.example>\n550-No Such User Here\n550 Sender verify failed',
      '550-Callback setup failed while verifying <news@shop.example>\n550 Sender verify failed',
      '550-"JunkMail rejected - mail.shop.example [203.0.113.9]:39022\n550-is in an RBL: Client host blocked using zen.spamhaus.org,\n550 see https://www.spamhaus.org/query/ip/203.0.113.9"',
      '550 JunkMail rejected - mail.shop.example [203.0.113.9]:39022 is in an RBL, see http://www.spamhaus.org/query/bl?ip=203.0.113.9',
      '550-mail.shop.example [203.0.113.9] is currently not permitted to relay through\n550-this server. Perhaps you have not logged into the pop/imap server in the\n550-last 30 minutes or do not have SMTP Authentication turned on in your email\n550 client.',
      '550 rejected because 203.0.113.9 is in a black list at bl.spamcop.net',
      '550 This message was classified as SPAM and may not be delivered',
      '550 HELO is an IP address (See RFC2821 4.1.3)',
      '550 SPF check failed: shop.example does not designate 203.0.113.9 as permitted sender',
      '550 "The mail server could not deliver mail to ann@example.org. The account or domain may not exist, they may be blacklisted, or missing the proper dns entries."',
      '535 Incorrect authentication data',
    ]),
    ...about('full', ['550 Mailbox quota exceeded', '552 Mailbox is full / Mailfolder is full']),
  ],
  OpenSMTPD: [
    ...about('recipient', [
      '550 Invalid recipient: <ann@example.org>',
      '550 5.1.1 Invalid recipient: <ann@example.org>',
    ]),
    ...about('mailbox', [
      '530 5.5.1 Invalid command: Must issue an AUTH command first',
      '550 5.7.1 Delivery not authorized, message refused',
      '550 your IP reputation is too low for this MX',
      '550 DNSBL: listed in zen.spamhaus.org',
    ]),
    ...about('message', ['554 5.6.0 Message has 8BIT but no MIME']),
  ],
  'Exchange and Outlook.com': [
    ...about('recipient', [
      '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient ann@example.org not found by SMTP address lookup',
      '550 5.1.1 RESOLVER.ADR.ExRecipNotFound; not found',
      '550 5.1.1 User unknown',
      '550 5.2.1 RESOLVER.RST.RecipientDisabled; the recipient mailbox is disabled',
      '550 5.4.1 Recipient address rejected: Access denied. [AM6EUR05FT047.eop-eur05.prod.protection.outlook.com]',
      '550 5.4.310 DNS domain customer.example does not exist [Message=InfoDomainNonexistent]',
      '550 Requested action not taken: mailbox unavailable (S2017062302).',
    ]),
    ...about('mailbox', [
      "550 5.7.1 Unfortunately, messages from [203.0.113.9] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3150).",
      '550 SC-001 (COL004-MC1F5) Unfortunately, messages from 203.0.113.9 were not sent. Mail rejected by Outlook.com for policy reasons.',
      '550 DY-001 Mail rejected by Outlook.com for policy reasons. We generally do not accept email from dynamic IPs.',
      '550 5.7.606 Access denied, banned sending IP [203.0.113.9]. To request removal from this list please visit https://sender.office.com/',
      '550 5.7.708 Service unavailable. Access denied, traffic not accepted from this IP.',
      '550 5.4.1 All recipient addresses rejected : Access denied [AM6EUR05FT047.eop-eur05.prod.protection.outlook.com]',
      '550 5.1.8 Access denied, bad outbound sender',
      "550 5.1.90 Your message can't be sent because you've reached your daily limit for message recipients",
      '550 5.7.60 SMTP; Client does not have permissions to send as this sender',
      '550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required; Delivery restriction check failed',
      '550 5.7.515 Access denied, sending domain shop.example does not meet the required authentication level.',
      '530 5.7.57 Client not authenticated to send mail.',
    ]),
    ...about('full', ['554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException']),
    ...about('message', [
      '550 5.2.3 RESOLVER.RST.SizeLimit; message too large for this recipient',
      '552 5.3.4 Message size exceeds fixed maximum message size',
    ]),
  ],
  Gmail: [
    ...about('recipient', [
      "550-5.1.1 The email account that you tried to reach does not exist. Please try\n550-5.1.1 double-checking the recipient's email address for typos or\n550 5.1.1 unnecessary spaces. h1si1234567wrt.1 - gsmtp",
      '550-5.2.1 The email account that you tried to reach is disabled. Learn more at\n550 5.2.1 https://support.google.com/mail/?p=DisabledUser h1si1234567wrt.1 - gsmtp',
    ]),
    ...about('mailbox', [
      '550-5.7.26 This mail has been blocked because the sender is unauthenticated.\n550-5.7.26 Gmail requires all senders to authenticate with either SPF or DKIM.\n550 5.7.26 gsmtp',
      '550-5.7.1 [203.0.113.9] Our system has detected that this message is likely\n550-5.7.1 unsolicited mail. To reduce the amount of spam sent to Gmail, this\n550 5.7.1 message has been blocked. - gsmtp',
      '550-5.7.1 The IP you are using to send mail is not authorized to send email\n550 5.7.1 directly to our servers. - gsmtp',
    ]),
    // A quota passes.
    ...about(null, ['550 5.4.5 Daily SMTP relay limit exceeded for user. - gsmtp']),
    ...about('full', [
      '552-5.2.2 The email account that you tried to reach is over quota. Please direct\n552 5.2.2 the recipient to https://support.google.com/mail/?p=OverQuotaPerm - gsmtp',
    ]),
  ],
  Yahoo: [
    ...about('recipient', [
      '550 5.1.1 <ann@yahoo.example> User unknown; rejecting',
      "550 delivery error: dd This user doesn't have a yahoo.com account (ann@yahoo.example) [0] - mta1234.mail.ne1.yahoo.com",
      '553 Mail for address unknown: mailbox name not allowed',
    ]),
    ...about('mailbox', [
      "553 5.7.1 [BL21] Connections will not be accepted from 203.0.113.9, because the ip is in Spamhaus's list; see https://postmaster.yahooinc.com/error-codes",
      '554 5.7.9 Message not accepted for policy reasons. See https://postmaster.yahooinc.com/error-codes',
      '550 5.7.1 Message not accepted for DMARC policy reasons',
      '553 [TSS11] All messages from 203.0.113.9 will be permanently deferred; Retrying will NOT succeed. User complaints',
    ]),
    ...about(null, [
      '421 4.7.0 [TSS04] Messages from 203.0.113.9 temporarily deferred due to user complaints',
    ]),
  ],
  Mimecast: [
    ...about('recipient', [
      '550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550 [x8Vd1]',
    ]),
    ...about('mailbox', [
      '550 Envelope blocked - User Entry - https://community.mimecast.com/docs/DOC-1369#550 [x8Vd1]',
      '550 Administrative prohibition - envelope blocked - https://community.mimecast.com/docs/DOC-1369#550',
      '550 csi.mimecast.org Poor Reputation Sender. - https://community.mimecast.com/docs/DOC-1369#550',
      '550 Anti-Spoofing policy - Inbound not allowed - https://community.mimecast.com/docs/DOC-1369#550',
      '550 DMARC Sender Invalid - envelope rejected - https://community.mimecast.com/docs/DOC-1369#550',
      '550 Rejected by header based manually Blocked Senders - [x8Vd1]',
      '550 Submitter failed to authenticate',
      '550 Local CT IP Reputation - (reject)',
      '554 Email rejected due to security policies - https://community.mimecast.com/docs/DOC-1369#554',
    ]),
  ],
  Proofpoint: [
    ...about('recipient', ['550 5.1.1 User Unknown', '550 5.1.1 <ann@example.org>... User unknown']),
    ...about('mailbox', [
      '554 Blocked - see https://ipcheck.proofpoint.com/?ip=203.0.113.9',
      '550 Blocked - see https://support.proofpoint.com/dnsbl-lookup.cgi?ip=203.0.113.9',
      '550 5.7.0 Local Policy Violation',
      '550 5.7.1 Message rejected. If the problem persists contact your postmaster',
    ]),
  ],
  Barracuda: [
    ...about('recipient', [
      '550 permanent failure for one or more recipients (ann@example.org:550 No such recipient)',
      '550 No such recipient here',
    ]),
    ...about('mailbox', [
      '554 Service unavailable; Client host [mail.shop.example] blocked using Barracuda Reputation; https://www.barracudanetworks.com/reputation/?r=1&ip=203.0.113.9',
      '550 permanent failure for one or more recipients (ann@example.org:blocked)',
      '550 Mail rejected, sender IP is listed by b.barracudacentral.org',
    ]),
  ],
  qmail: [
    ...about('recipient', [
      '550 sorry, no mailbox here by that name (#5.1.1)',
      '550 sorry, no mailbox here by that name. (#5.1.1 - chkuser)',
      '550 Sorry, no mailbox here by that name.',
      '550 user not found',
    ]),
    ...about('mailbox', [
      "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
      "553 sorry, that domain isn't in my list of allowed rcpthosts; no valid cert for gatewaying",
      '553 sorry, your envelope sender is in my badmailfrom list (#5.7.1)',
      '553 sorry, your mail was administratively denied. (#5.7.1)',
      "550 sorry, your mail server's IP is listed in a blocklist",
    ]),
    ...about('full', ['552 user over quota (#5.2.2)']),
    ...about('message', ['552 sorry, that message size exceeds my databytes limit (#5.3.4)']),
  ],
  Sendmail: [
    ...about('recipient', [
      '550 5.1.1 <ann@example.org>... User unknown',
      '550 <ann@example.org>... User unknown',
      '550 5.1.2 <ann@example.org>... Host unknown (Name server: example.org: host not found)',
    ]),
    ...about('mailbox', [
      '550 5.7.1 <ann@example.org>... Relaying denied. Proper authentication required.',
      '550 <ann@example.org>... Relaying denied',
      '553 5.1.8 <news@shop.example>... Domain of sender address news@shop.example does not exist',
      '550 5.7.1 Rejected: 203.0.113.9 listed at zen.spamhaus.org',
      '550 Rejected: 203.0.113.9 listed at zen.spamhaus.org',
      "550 5.0.0 We don't accept mail from spammers",
      '550 Access denied',
      '550 5.3.0 Mail from 203.0.113.9 refused, see http://www.example.org/blacklist',
    ]),
  ],
  'relays of providers': [
    ...about('mailbox', [
      '550 Your account has been disabled. Please contact support.',
      '550 Maximum credits exceeded',
      '554 Message rejected: Email address is not verified. The following identities failed the check in region EU-WEST-1: news@shop.example',
      '550 Unauthorized. Your SMTP account is not yet activated.',
      '553 Sender address is not a verified sender of your plan',
    ]),
  ],
  'Domino and others': [
    ...about('recipient', [
      '550 ann@example.org... User not listed in public Name & Address Book',
      '550 5.1.1 User ann (ann@example.org) not listed in Domino Directory',
      '550 Unknown user; message blocked, see our policy',
      '550 Account disabled by our spam policy',
      '550 <policy@junkyard.example>: rejected',
      '550 spam@example.org no such mailbox, not listed in our directory',
      '551 User not local; please try <ann@example.net>',
      '553 Requested action not taken: mailbox name not allowed',
    ]),
    ...about('mailbox', [
      '550 Message rejected',
      '550 DKIM record not found for shop.example',
      '554 Transaction failed',
    ]),
  ],
};
