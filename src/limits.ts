/**
 * Caps, timeouts and retentions that several files share, each with its reason or source. What one file alone needs stands in that
 * file, and settings with their defaults in `settings.ts`. Names end with the unit. Sources: "contract" is the service
 * specification, "decision" what it leaves open.
 */

/* --- HTTP ----------------------------------------------------------------------------------------------------- */
/** Contract, Limits: default and maximum page size of all paginated lists. */
export const DEFAULT_PER_PAGE = 20;
export const MAX_PER_PAGE = 50;
/** Values that a shell is offered at once for a word that is being typed. */
export const COMPLETED_WORDS = 200;
/** What a filter or a search fits is counted up to so many, as nobody reads further: "10,000 or more". */
export const COUNTED_MATCHES = 10_000;
/** A page's form: an address, a token and a few choices. */
export const MAX_FORM_BODY_BYTES = 16 * 1024;
/** Decision: lists of a project that people choose from on one page. */
export const MAX_PUBLIC_LISTS = 50;
/** Decision: the Warning header names at most ten unknown fields, each cut at 64 characters. */
export const MAX_WARNED_FIELDS = 10;
export const MAX_WARNED_FIELD_CHARS = 64;
/** A connection may idle this long between requests. Bodies have their own deadlines; downloads have none. */
export const HTTP_IDLE_TIMEOUT_S = 60;
/** An upload may be slow, but a client that sends nothing at all for this long is gone. */
export const UPLOAD_IDLE_TIMEOUT_MS = 30_000;
/** 10 MB at 12 KB/s, the slowest mobile link that still works, takes about 15 minutes. */
export const UPLOAD_DEADLINE_MS = 15 * 60_000;
/** Decision: characters of an Idempotency-Key. */
export const MAX_IDEMPOTENCY_KEY_CHARS = 255;
/** Decision: exit within 10 s of SIGTERM, as Docker kills then; requests get most of that, the mailer the rest. */
export const STOP_REQUESTS_DEADLINE_MS = 5_000;
export const STOP_MAILER_DEADLINE_MS = 1_500;

/* --- Database ------------------------------------------------------------------------------------------------- */
/** The CLI's transactions are short; waiting longer means something is wrong. */
export const BUSY_TIMEOUT_MS = 5_000;
/** Rows that one transaction of a sweep deletes: some milliseconds, as a request waits for one of them. */
export const SWEEP_BATCH = 100;
/** Retry-After while the disk is full or failing: somebody has to make room. */
export const DISK_RETRY_AFTER_S = 30;
/** Below this many free bytes health says `degraded`: SQLite's WAL needs some to commit at all. */
export const MIN_FREE_DISK_BYTES = 8 * 1024 * 1024;

/* --- Projects, keys, tokens ----------------------------------------------------------------------------------- */
/** Contract: project name. Slugs share it, since generated ones come from names. */
export const MAX_NAME_CHARS = 255;
/** The address of a page, a server or a webhook. */
export const MAX_URL_CHARS = 2_048;
/** Entries of platforms, tech_stack and fingerprint lists. */
export const MAX_LIST_ENTRIES = 50;
/** The longest host name with a scheme and a port fits with room; a longer origin is no origin. */
export const MAX_ORIGIN_CHARS = 300;
/** Google Play and the App Store both stop at 255 (Apple) or earlier. */
export const MAX_APP_ID_CHARS = 255;
/** Decision: tokens live 90 days by default, and touch last use at most once a minute. */
export const DEFAULT_TOKEN_DAYS = 90;
/** Decision: a year and a day, but ten years from the shell. Nobody looks after a token that lives longer. */
export const MAX_GIVEN_TOKEN_DAYS = 366;
export const MAX_TOKEN_DAYS = 3_650;

/* --- Objects -------------------------------------------------------------------------------------------------- */
/** Decision: what came of a resumable upload is kept for a day, for at most fifty uploads of a key. */
export const UNFINISHED_UPLOAD_MS = 86_400_000;
export const MAX_UNFINISHED_UPLOADS = 50;
/** Decision: a file name is at most 255 bytes, the limit of common file systems. */
export const MAX_FILENAME_BYTES = 255;
/** Names that a search looks at, newest first: 15 to 35 ms for all, 100 ms at the longest. */
export const OBJECT_SEARCH_ROWS = 100_000;

/* --- Image variants ------------------------------------------------------------------------------------------- */
/** Decision: the largest source image of a variant, in pixels and in stored bytes. */
export const MAX_VARIANT_SOURCE_PIXELS = 40_000_000;
export const MAX_VARIANT_SOURCE_BYTES = 32 * 1024 * 1024;
/** Retry-After of one more: the others are done by then, unless hard. What was too hard waits longer. */
export const VARIANT_QUEUE_RETRY_AFTER_S = 2;
export const VARIANT_REFUSAL_KEPT_MS = 60_000;

/* --- The object store ------------------------------------------------------------------------------------------ */
/** Decision: when the caller of a busy or broken store may try again. */
export const STORE_RETRY_AFTER_S = 30;
/** Decision: what is larger goes to the store in parts of this size; S3 takes 10,000 parts of one upload. */
export const STORE_PART_BYTES = 8 * 1024 * 1024;
export const STORE_MAX_PARTS = 10_000;
/** Decision: how long a restored store's objects are held. */
export const STORE_HOLD_MS = 7 * 86_400_000;
/** Decision: how often a store's owner renews its mark, and after how long without it counts as gone. */
export const OWNER_BEAT_MS = 20_000;
export const OWNER_GONE_MS = 90_000;

/* --- Email ---------------------------------------------------------------------------------------------------- */
/** Contract, Limits. */
export const MAX_SUBJECT_CHARS = 500;
/** Contract (decisions 18): inboxes show about a hundred. */
export const MAX_PREHEADER_CHARS = 200;
export const MAX_DISPLAY_NAME_CHARS = 255;
export const MAX_COPIES = 10;
export const MAX_ATTACHMENTS = 5;
/** A list of all sixty minutes has 169 characters; no expression that means something is longer than this. */
export const MAX_CRON_CHARS = 500;
/** The longest name of the IANA time zone database has 32 characters. */
export const MAX_TIMEZONE_CHARS = 64;
export const MAX_DESCRIPTION_CHARS = 2_000;
/** Rendering stops here: a short template can repeat a long value. The largest body that can be set. */
export const MAX_RENDERED_CHARS = 25 * 1024 * 1024;
/** Lists within quotations within lists: writing them recurses, and nobody reads more than ten levels. */
export const MAX_MARKDOWN_DEPTH = 100;
/** Contract: what is shown of the times at which a schedule runs next. */
export const SHOWN_RUNS = 5;
/** RFC 5321 4.5.3.1.3: a path is at most 256 octets with its angle brackets. */
export const MAX_ADDRESS_CHARS = 254;
/** Decision: who waits for a mail is answered within 30 s; the last second is for writing it down. */
export const SEND_ANSWER_MS = 29_000;
/** What is read of a message to find a report: its fields and the returned mail's headers come first. */
export const MAX_REPORT_BYTES = 256 * 1024;
/** Decision: the most in a report. Real ones have three to five parts and some 20 KB of headers. */
export const MAX_REPORT_HEADER_BYTES = 64 * 1024;
export const MAX_REPORT_PARTS = 100;
export const MAX_REPORT_DEPTH = 10;
/** Of what a report says to people: real ones have 1 to 3 KB. */
export const MAX_REPORT_TEXT_BYTES = 32 * 1024;
/** Addresses and signatures of a message that are compared with ours. Reports have a handful of each. */
export const MAX_REPORT_CANDIDATES = 100;
/** RFC 5321 4.5.3.1.1: a local part. */
export const MAX_LOCAL_PART_CHARS = 64;
/** Decision: an inbox is looked at each minute where IDLE tells nothing. */
export const INBOX_LOOK_EVERY_MS = 60_000;
/** Decision: how long a mailbox waits for a relay that asks for less, doubling. */
export const PACE_WAIT_MIN_MS = 5_000;
export const PACE_WAIT_MAX_MS = 5 * 60_000;
/** Decision: without a refusal in this time, what a relay has taught is forgotten. */
export const PACE_FORGOTTEN_MS = 10 * 60_000;
/** How long a client that waits for its mail is kept waiting for its mailbox's turn; longer is 503. */
export const PACE_CLIENT_WAIT_MS = 5_000;
/** What was sent is kept this long after its end, for `email retry` and `email captured`. The log remains. */
export const EMAIL_BODY_RETENTION_MS = 30 * 86_400_000;
/** Decision: UTC days with a soft bounce and no delivery, open or click between them that make a hard one. */
export const SOFT_BOUNCE_DAYS_TO_HARD = 5;
/** The log itself: a year answers "did we ever write to them" without growing for ever. */
export const EMAIL_LOG_RETENTION_MS = 365 * 86_400_000;
/** RFC 5321 4.5.3.1.5 has reply lines of 512 octets; a long multi-line reply is cut here. */
export const MAX_SMTP_RESPONSE_CHARS = 1_000;
/** Browsers' user agents have 100 to 300 characters; a longer one is cut. */
export const MAX_USER_AGENT_CHARS = 500;

/* --- DNS ------------------------------------------------------------------------------------------------------ */
/** RFC 1035 2.3.4: a label and a whole name, written with dots. */
export const MAX_DNS_LABEL_CHARS = 63;
export const MAX_DNS_NAME_CHARS = 253;

/* --- Captcha -------------------------------------------------------------------------------------------------- */
/** Contract, Limits. */
export const MAX_CAPTCHA_TOKEN_CHARS = 4_096;

/* --- Providers ------------------------------------------------------------------------------------------------ */
/** Projects or accounts named in one request. */
export const MAX_ASSIGNMENTS = 1_000;

/* --- People --------------------------------------------------------------------------------------------------- */
/** Decision: 3 of 4 by zxcvbn for its first 64 code points. 64 take up to 0.1 s, 256 up to 0.8. */
export const JUDGED_PASSWORD_CHARS = 64;
export const MIN_PASSWORD_SCORE = 3;
/** Decision: sessions last 12 h after their last request, 14 days at most. */
export const SESSION_IDLE_MS = 12 * 3_600_000;
export const SESSION_ABSOLUTE_MS = 14 * 86_400_000;

/* --- Search and overview ---------------------------------------------------------------------------------------------------- */
/** Decision: what a search shows of each kind. */
export const SEARCH_ROWS = 10;
/** Decision: what a project's activity is told of, in days. */
export const ACTIVITY_DAYS = ['7', '30'] as const;
/** The longest of these, the present day among them, from its first hour on. */
export const ACTIVITY_RETENTION_MS = 31 * 86_400_000;

/* --- Backups and doctor --------------------------------------------------------------------------------------- */
/** One read and one write of a backup; larger ones gained nothing when measured. */
export const BACKUP_BUFFER_BYTES = 1024 * 1024;
/** A backup flushes each time it has written this much: no commit of the server waits behind more. */
export const BACKUP_PACE_BYTES = 16 * 1024 * 1024;
/** `doctor` counts mails that failed within this time. */
export const DOCTOR_FAILURES_MS = 24 * 3_600_000;
/** Decision: the passphrase of an exported project; shorter ones are guessed, even against argon2id. */
export const MIN_TRANSFER_PASSPHRASE_CHARS = 12;
/** Ids that a finding lists before it only counts. */
export const FINDING_EXAMPLES = 3;

/* --- Email marketing ------------------------------------------------------------------------------------------ */
/** Sites that get a contact_token in their links: a team has few. */
export const MAX_TOKEN_HOSTS = 20;
/** Tags of one contact, and characters of one: words to group by, no notes. */
export const MAX_CONTACT_TAGS = 50;
export const MAX_TAG_CHARS = 100;
/** Decision: `custom` is an object of at most 50 plain values. */
export const MAX_CUSTOM_FIELDS = 50;
/** A CSV column's header becomes the name of a field. */
export const MAX_CUSTOM_FIELD_NAME_CHARS = 100;
export const MAX_CUSTOM_VALUE_CHARS = 1_000;
/** Why and from where somebody is on a list: a sentence. */
export const MAX_CONTACT_SOURCE_CHARS = 255;
export const MAX_CONTACT_REASON_CHARS = 1_000;
/** A prefix longer than any address finds nothing. */
export const MAX_CONTACT_QUERY_CHARS = 320;
/** Contract: contact_ids of one call. */
export const MAX_CONTACT_IDS = 500;
/** Contacts in one transaction of a bulk change: some milliseconds, so that nobody waits long. */
export const BULK_CONTACTS_BATCH = 200;
/** Addresses of one paste: it ends within the request, so more belong into a file. */
export const MAX_PASTED_ROWS = 5_000;
/** A hundred for each of them: reading so much is some tens of milliseconds, whatever it is. */
export const MAX_PASTE_CHARS = 100 * MAX_PASTED_ROWS;
/** An import within its request has a job, too, in case the server dies. It begins after this long. */
export const IMPORT_REQUEST_GRACE_MS = 5 * 60_000;
/** Decision: strangers' names in mails to people they chose: enough for a name, too short for a text. */
export const MAX_FORM_NAME_CHARS = 64;

/* --- Sequences ------------------------------------------------------------------------------------------------ */
/** An enrollment whose template is gone or switched off looks again after this. */
export const TEMPLATE_WAIT_MS = 10 * 60_000;
/** Enrollments that one transaction makes: a few milliseconds, so that nobody waits long behind it. */
export const ENROLL_PIECE = 200;
/** Decision: distinct links of one mail within seconds, or its invisible link so close by, mean a scanner. */
export const SCANNER_WINDOW_MS = 10_000;
/** Decision: the bounce threshold looks at the last 100 sends. */
export const BOUNCE_WINDOW_SENDS = 100;
/** Decision: so many of the last REFUSAL_WINDOW_MAILS (or fewer) refused because of the sender pause it. */
export const REFUSALS_TO_PAUSE = 20;
export const REFUSAL_WINDOW_MAILS = 100;

/* --- Webhooks --------------------------------------------------------------------------------------------------- */
/** Decision: a webhook that fails for so long is switched off; switched on, it drops what waited longer. */
export const WEBHOOK_PATIENCE_MS = 3 * 86_400_000;

/* --- Vault ------------------------------------------------------------------------------------------------------ */
/** Decision: environments of a vault beside production. */
export const MAX_ENVIRONMENTS = 10;
/** Decision: so many days before a secret ends, doctor and Home remind of it. */
export const SECRET_REMINDER_DAYS = 14;
