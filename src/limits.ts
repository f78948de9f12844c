/**
 * Caps, timeouts and retentions that callers or operators meet or that several files share, each with its
 * reason or source. A number of one file that nobody meets stands in that file. Names end with the unit.
 * Settings are in `config.ts`; their defaults are here. Sources: "contract" is the service specification,
 * "decision" what it leaves open.
 */

/* --- HTTP ----------------------------------------------------------------------------------------------------- */
/** Contract, Limits: default and maximum page size of all paginated lists. */
export const DEFAULT_PER_PAGE = 20;
export const MAX_PER_PAGE = 50;
/** Values that a shell is offered at once for a word that is being typed. */
export const COMPLETED_WORDS = 200;
/** What a filter or a search fits is counted up to so many, as nobody reads further: "10,000 or more". */
export const COUNTED_MATCHES = 10_000;
/** A JSON body: two default email bodies, escaped, and variables (it grows with the email limit). */
export const MIN_JSON_BODY_BYTES = 5 * 1024 * 1024;
/** Decision: JSON nested deeper is 422. */
export const MAX_JSON_DEPTH = 64;
/** Decision: members of objects and items of arrays in one JSON body; real ones have hundreds. */
export const MAX_JSON_MEMBERS = 10_000;
/** A JSON body is small: a client that needs longer is stalled. */
export const JSON_BODY_DEADLINE_MS = 30_000;
/** A page's form: an address, a token and a few choices. */
export const MAX_FORM_BODY_BYTES = 16 * 1024;
/** Decision: lists of a project that people choose from on one page. */
export const MAX_PUBLIC_LISTS = 50;
/** Contract, decisions 19: how long an unsubscription can be taken back on its page. */
export const TAKING_BACK_MS = 10 * 60_000;
/** Contract, decisions 17: how long a pause lasts that people choose themselves. */
export const PAUSE_MS = 30 * 24 * 60 * 60_000;
/** Fields of such a form: pages of ours have a handful, and mail programs add their own. */
export const MAX_FORM_FIELDS = 1_000;
/** A mail that the console shows: several default bodies, whose bytes a form may triple. */
export const MAX_PREVIEW_BODY_BYTES = 6 * 1024 * 1024;
/** Decision: the Warning header names at most ten unknown fields, each cut at 64 characters. */
export const MAX_WARNED_FIELDS = 10;
export const MAX_WARNED_FIELD_CHARS = 64;
/** A connection may idle this long between requests. Bodies have their own deadlines; downloads have none. */
export const HTTP_IDLE_TIMEOUT_S = 60;
/** An upload may be slow, but a client that sends nothing at all for this long is gone. */
export const UPLOAD_IDLE_TIMEOUT_MS = 30_000;
/** 10 MB at 12 KB/s, the slowest mobile link that still works, takes about 15 minutes. */
export const UPLOAD_DEADLINE_MS = 15 * 60_000;
/** Decision: Idempotency-Key has up to 255 characters and is kept 24 h. */
export const MAX_IDEMPOTENCY_KEY_CHARS = 255;
export const IDEMPOTENCY_RETENTION_MS = 24 * 3_600_000;
/** Decision: exit within 15 s of SIGTERM; requests get most of that, the mailer the rest. */
export const STOP_REQUESTS_DEADLINE_MS = 8_000;
export const STOP_MAILER_DEADLINE_MS = 5_000;
/** Decision: how long browsers come by https alone. */
export const HSTS_MAX_AGE_S = 31_536_000;

/* --- TLS by itself -------------------------------------------------------------------------------------------- */
/** What Let's Encrypt takes into one certificate. */
export const MAX_TLS_NAMES = 100;

/* --- Rates ---------------------------------------------------------------------------------------------------- */
/** Decision: rate_limit_per_minute null means 600. */
export const DEFAULT_KEY_RATE_PER_MINUTE = 600;
/** Decision: 6,000 requests a minute for each management token; a person gets as many. */
export const MANAGEMENT_RATE_PER_MINUTE = 6_000;
/** Contract, Limits: captcha verify, per API key. */
export const CAPTCHA_RATE_PER_MINUTE = 60;

/* --- Jobs ----------------------------------------------------------------------------------------------------- */
/** Contract: queued email is attempted three times. */
export const EMAIL_MAX_ATTEMPTS = 3;
/** Jobs of one lane, such as a mailbox, that run at once. A hanging relay holds no more than these. */
export const LANE_CONCURRENCY = 40;
/** Finished jobs are kept this long for clients that poll late. */
export const JOB_RETENTION_MS = 30 * 86_400_000;

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
/** A text that an admin writes about a project: more than anybody needs, less than what slows lists down. */
export const MAX_NOTES_CHARS = 10_000;
export const MAX_URL_CHARS = 2_048;
/** Entries of platforms, tech_stack and fingerprint lists. */
export const MAX_LIST_ENTRIES = 50;
/** Contract: candidates of one origin check. */
export const MAX_ORIGIN_CHECKS = 50;
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
/** Contract: 10 MB by default. */
export const DEFAULT_MAX_UPLOAD_BYTES = 10_485_760;
/** Decision: uploads per key and minute. */
export const DEFAULT_UPLOADS_PER_MINUTE = 120;
/** Decision: what came of a resumable upload is kept for a day, for at most fifty uploads of a key. */
export const UNFINISHED_UPLOAD_MS = 86_400_000;
export const MAX_UNFINISHED_UPLOADS = 50;
/** A file name of the longest kind takes 1,000 of them; a request's headers may have 16 KiB in all. */
export const MAX_UPLOAD_METADATA_CHARS = 4_096;
/** Contract: expires_in_days. */
export const MIN_EXPIRES_IN_DAYS = 1;
export const MAX_EXPIRES_IN_DAYS = 3_650;
/** Decision: a file name is at most 255 bytes, the limit of common file systems. */
export const MAX_FILENAME_BYTES = 255;
/** RFC 6838 4.2 allows 127 characters to a type and to a subtype; parameters may fill the rest. */
export const MAX_MEDIA_TYPE_CHARS = 255;
/** Parts of an upload form: the file, four fields, and what a form adds by itself, such as a token. */
export const MAX_FORM_PARTS = 32;
/** A plain field of an upload form holds a word or a date. */
export const MAX_FORM_FIELD_BYTES = 16 * 1024;
/** Contract: a signed link opens its file for a week at most. */
export const MAX_OBJECT_LINK_S = 7 * 86_400;
/** Names that a search looks at, newest first: 15 to 35 ms for all, 100 ms at the longest. */
export const OBJECT_SEARCH_ROWS = 100_000;

/* --- Image variants ------------------------------------------------------------------------------------------- */
/** Decision: a variant's sides, and the largest source image, in pixels and in stored bytes. */
export const MIN_VARIANT_SIDE_PX = 16;
export const MAX_VARIANT_SIDE_PX = 4_096;
export const MAX_VARIANT_SOURCE_PIXELS = 40_000_000;
export const MAX_VARIANT_SOURCE_BYTES = 32 * 1024 * 1024;
/** Where codecs' own defaults lie: much smaller than the best, and hard to tell from it. */
export const DEFAULT_VARIANT_QUALITY = 80;
/** Decision: variants made at once, each in its own process; what one may take; how many wait. */
export const VARIANTS_AT_ONCE = 2;
export const VARIANT_DEADLINE_MS = 10_000;
export const VARIANT_MEMORY_BYTES = 512 * 1024 * 1024;
export const VARIANTS_WAITING = 20;
/** Retry-After of one more: the others are done by then, unless hard. What was too hard waits longer. */
export const VARIANT_QUEUE_RETRY_AFTER_S = 2;
export const VARIANT_REFUSAL_KEPT_MS = 60_000;
/** Decision: what variants may take on the disk. They give way at this little room, before writes fail. */
export const DEFAULT_VARIANTS_MAX_BYTES = 1024 ** 3;
export const VARIANTS_FREE_DISK_BYTES = 256 * 1024 * 1024;

/* --- The object store ------------------------------------------------------------------------------------------ */
/** Decision: deadlines of a request to the store: to connect, until the answer begins, and between bytes. */
export const STORE_CONNECT_TIMEOUT_MS = 5_000;
export const STORE_FIRST_BYTE_TIMEOUT_MS = 15_000;
export const STORE_IDLE_TIMEOUT_MS = 30_000;
/** Decision: tries at a busy or broken store before the caller gets 503, and when that may try again. */
export const STORE_TRIES = 3;
export const STORE_PATIENCE_MS = 10_000;
export const STORE_RETRY_AFTER_S = 30;
/** Decision: requests to the store at once. */
export const STORE_MAX_REQUESTS = 64;
/** Decision: what is larger goes to the store in parts of this size; S3 takes 10,000 parts of one upload. */
export const STORE_PART_BYTES = 8 * 1024 * 1024;
export const STORE_MAX_PARTS = 10_000;
/** Decision: a redirect to the store is good for this long at most. */
export const STORE_LINK_S = 300;
/** Decision: how long keys without a row and unfinished uploads in the store are left alone. */
export const STORE_SETTLE_MS = 3_600_000;
export const STORE_UNFINISHED_MS = 86_400_000;
export const STORE_HOLD_MS = 7 * 86_400_000;
/** Decision: how often a store's owner renews its mark, and after how long without it counts as gone. */
export const OWNER_BEAT_MS = 20_000;
export const OWNER_GONE_MS = 90_000;

/* --- Email ---------------------------------------------------------------------------------------------------- */
/** Decision: each of body_html and body_text. */
export const DEFAULT_MAX_EMAIL_BODY_BYTES = 512_000;
/** The most that SATCHEL_MAX_EMAIL_BODY_BYTES may allow: relays refuse larger mails. */
export const MAX_EMAIL_BODY_SETTING_BYTES = 25 * 1024 * 1024;
/** Decision: seconds before attempts 2 and 3; the last outlasts a greylisting of five minutes. */
export const DEFAULT_EMAIL_RETRY_DELAYS_S: readonly [number, number] = [15, 300];
/** Decision: hours that a campaign's mail is tried, and the most that the setting may say: a week. */
export const DEFAULT_MARKETING_PATIENCE_HOURS = 24;
export const MAX_MARKETING_PATIENCE_HOURS = 168;
/** Decision: seconds between its attempts; the last for all that follow. */
export const MARKETING_RETRY_DELAYS_S: readonly number[] = [15, 300, 900, 1_800];
/** Contract, Limits. */
export const MAX_SUBJECT_CHARS = 500;
/** Contract (decisions 18): inboxes show about a hundred. */
export const MAX_PREHEADER_CHARS = 200;
export const MAX_DISPLAY_NAME_CHARS = 255;
export const MAX_COPIES = 10;
export const MAX_ATTACHMENTS = 5;
/** Decision: emails of one batch. */
export const MAX_BATCH_EMAILS = 100;
/**
 * The rendered bodies of a batch together (it grows with the email limit): 80 KB for each of a hundred, as
 * mail programs cut at 102 KB, and what a transaction writes in some tens of milliseconds.
 */
export const MAX_BATCH_CONTENT_BYTES = 8 * 1024 * 1024;
export const MAX_SCHEDULE_RECIPIENTS = 50;
/** A list of all sixty minutes has 169 characters; no expression that means something is longer than this. */
export const MAX_CRON_CHARS = 500;
/** The longest name of the IANA time zone database has 32 characters. */
export const MAX_TIMEZONE_CHARS = 64;
export const MAX_DESCRIPTION_CHARS = 2_000;
/** A placeholder's name, dots included. A CSV column's header may be long; what is longer is no name. */
export const MAX_PLACEHOLDER_CHARS = 255;
/** Rendering stops here: a short template can repeat a long value. The largest body that can be set. */
export const MAX_RENDERED_CHARS = 25 * 1024 * 1024;
/** Lists within quotations within lists: writing them recurses, and nobody reads more than ten levels. */
export const MAX_MARKDOWN_DEPTH = 100;
/** Declared variables of one template: more than any mail reads, few enough to list them all in a message. */
export const MAX_TEMPLATE_VARIABLES = 100;
/** Decision: a run of a schedule that is up to this late (a restart) is run, not missed. */
export const SCHEDULE_GRACE_MS = 5 * 60_000;
/** Contract: what is shown of the times at which a schedule runs next. */
export const SHOWN_RUNS = 5;
/** Quotas start afresh each UTC day. What could not be served in one and a bit is reported. */
export const SCHEDULE_GIVE_UP_MS = 25 * 3_600_000;
/** Decision: attachments of one mail, before base64. */
export const MAX_ATTACHMENTS_BYTES = 25 * 1024 * 1024;
/** RFC 5321 4.5.3.1.3: a path is at most 256 octets with its angle brackets. */
export const MAX_ADDRESS_CHARS = 254;
/** RFC 5321 4.5.3.2: greeting, MAIL, RCPT; DATA; a block; the answer to the dot. Connecting: decision. */
export const SMTP_COMMAND_TIMEOUT_MS = 5 * 60_000;
export const SMTP_DATA_TIMEOUT_MS = 2 * 60_000;
export const SMTP_BLOCK_TIMEOUT_MS = 3 * 60_000;
export const SMTP_ANSWER_TIMEOUT_MS = 10 * 60_000;
export const SMTP_CONNECT_TIMEOUT_MS = 10_000;
/** Decision: who waits for a mail is answered within 30 s; the last second is for writing it down. */
export const SEND_ANSWER_MS = 29_000;
/** Decision: when a mail that a relay may have taken is tried again, since its answer was given up. */
export const UNANSWERED_RETRIES_MS: readonly number[] = [30 * 60_000, 4 * 3_600_000];
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
/** Messages that were passed over: how many UIDs are remembered, and for how long `doctor` names them. */
export const INBOX_SKIPPED_NAMED = 10;
export const INBOX_SKIPPED_SHOWN_MS = 7 * 86_400_000;
/** Decision: mails a second, a minute or an hour that a mailbox's rate may name at most. */
export const MAX_MAILBOX_RATE = 10_000;
/** Decision: how long a mailbox waits for a relay that asks for less, doubling; what relays may ask. */
export const PACE_WAIT_MIN_MS = 5_000;
export const PACE_WAIT_MAX_MS = 5 * 60_000;
export const PACE_ASKED_WAIT_MAX_MS = 15 * 60_000;
/** Decision: without a refusal in this time, what a relay has taught is forgotten. */
export const PACE_FORGOTTEN_MS = 10 * 60_000;
/** Decision: how long relays that ask to slow down, or speak of a quota, cost a mail no attempt. */
export const PACE_FORGIVEN_MS = 3_600_000;
export const QUOTA_FORGIVEN_MS = 86_400_000;
/** How long a client that waits for its mail is kept waiting for its mailbox's turn; longer is 503. */
export const PACE_CLIENT_WAIT_MS = 5_000;
/** Retry-After where a domain has no mailbox to send with: as long as an admin needs to resume one. */
export const NO_MAILBOX_RETRY_AFTER_S = 60;
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
/** RFC 7208 4.6.4: receivers give up on an SPF record that takes more. */
export const SPF_MAX_LOOKUPS = 10;
/** Mail signed with an old key may be on its way for this long: servers try 4 to 5 days (RFC 5321). */
export const DKIM_OLD_KEY_DAYS = 7;
/** RFC 1035 2.3.4: a label and a whole name, written with dots. */
export const MAX_DNS_LABEL_CHARS = 63;
export const MAX_DNS_NAME_CHARS = 253;

/* --- Captcha -------------------------------------------------------------------------------------------------- */
/** Decision: past it the provider counts as unreachable. */
export const DEFAULT_CAPTCHA_TIMEOUT_MS = 5_000;
/** Contract, Limits. */
export const MAX_CAPTCHA_TOKEN_CHARS = 4_096;
/** An IP address, a UUID, an action: no provider takes more of any of them. */
export const MAX_CAPTCHA_OPTION_CHARS = 255;

/* --- Vault ---------------------------------------------------------------------------------------------------- */
/** Decision: a stored configuration file. */
export const MAX_VAULT_FILE_BYTES = 1024 * 1024;
/** Linux passes 128 KiB in one variable (MAX_ARG_STRLEN): four bytes a character, and its name. */
export const MAX_VAULT_VALUE_CHARS = 32_000;
/** Decision: the names of the vault service `env`, and what each may hold. */
export const MAX_ENV_NAMES = 200;
export const MAX_ENV_VALUE_BYTES = 65_536;
/** Decision: a .env file that is imported, in code points. Half a body has room for its escapes. */
export const MAX_ENV_FILE_CHARS = 1_000_000;

/* --- Providers ------------------------------------------------------------------------------------------------ */
/** Keys of AI and database providers have 40 to 250 characters, tokens that are JWTs up to 2,000. */
export const MAX_PROVIDER_SECRET_CHARS = 8_192;
/** Projects or accounts named in one request. */
export const MAX_ASSIGNMENTS = 1_000;

/* --- People --------------------------------------------------------------------------------------------------- */
/** Decision: a password's length, in code points. */
export const MIN_PASSWORD_CHARS = 12;
export const MAX_PASSWORD_CHARS = 256;
/** Decision: 3 of 4 by zxcvbn for its first 64 code points. 64 take up to 0.1 s, 256 up to 0.8. */
export const JUDGED_PASSWORD_CHARS = 64;
export const MIN_PASSWORD_SCORE = 3;
/** Decision: failed sign-ins in 15 minutes, by account, and by address for all accounts together. */
export const SIGN_IN_FAILURES_OF_ACCOUNT = 10;
export const SIGN_IN_FAILURES_OF_ADDRESS = 30;
/**
 * Decision: after so many wrong codes since the last right one, the second step waits an hour, doubling to a
 * day. Three of a million codes are good, so guessing one takes hundreds of years.
 */
export const WRONG_CODES_BEFORE_WAIT = 30;
export const WRONG_CODES_WAIT_MS = 3_600_000;
export const MAX_WRONG_CODES_WAIT_MS = 86_400_000;
/** Decision: one-time links last 24 h; sessions 12 h after their last request, 14 days at most. */
export const LINK_EXPIRY_MS = 24 * 3_600_000;
export const SESSION_IDLE_MS = 12 * 3_600_000;
export const SESSION_ABSOLUTE_MS = 14 * 86_400_000;
/** Decision: ten recovery codes. 80 bits each: too many to try, even against the hash. */
export const RECOVERY_CODES = 10;
export const RECOVERY_CODE_BYTES = 10;
/** The bodies of the console's own endpoints: addresses, passwords and codes. */
export const MAX_CONSOLE_BODY_BYTES = 16 * 1024;

/* --- Imports -------------------------------------------------------------------------------------------------- */
/** Contract, Limits: background CSV imports. */
export const DEFAULT_IMPORT_ROWS_PER_MINUTE = 500;

/* --- Search and overview ---------------------------------------------------------------------------------------------------- */
/** Decision: what a search shows of each kind. */
export const SEARCH_ROWS = 10;
/** The longest address with room; a file name is found by its beginning. */
export const MAX_SEARCH_CHARS = 320;
/** Decision: sends and failures by hour, of a day. */
export const OVERVIEW_HOURS = 24;
/** Decision: what a project's activity is told of, in days; and its last errors. */
export const ACTIVITY_DAYS = ['7', '30'] as const;
export const ACTIVITY_ERRORS = 10;
/** The longest of these, the present day among them, from its first hour on. */
export const ACTIVITY_RETENTION_MS = 31 * 86_400_000;

/* --- Backups and doctor --------------------------------------------------------------------------------------- */
/** One read and one write of a backup; larger ones gained nothing when measured. */
export const BACKUP_BUFFER_BYTES = 1024 * 1024;
/** A backup flushes each time it has written this much: no commit of the server waits behind more. */
export const BACKUP_PACE_BYTES = 16 * 1024 * 1024;
/** Below this `doctor` warns: room for some hundred uploads of the default limit, so there is time to act. */
export const LOW_DISK_BYTES = 1024 ** 3;
/** How old findings may be where they need not be new, and the soundness of stored data among them. */
export const MAX_FINDINGS_AGE_S = 3_600;
export const SOUNDNESS_KEPT_MS = 24 * 3_600_000;
/** `doctor` counts mails that failed within this time. */
export const DOCTOR_FAILURES_MS = 24 * 3_600_000;
/** Decision: the passphrase of an exported project; shorter ones are guessed, even against argon2id. */
export const MIN_TRANSFER_PASSPHRASE_CHARS = 12;
/** Decision: a project file that the server keeps is on its way; to come, it may take as long (100 GB at 10 Mbit/s). */
export const TRANSFER_FILE_MS = 24 * 3_600_000;
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
/** A year is a long time without a click; more than ten are none. */
export const MAX_CLICKED_WITHIN_DAYS = 3_650;
/** Columns of an export: spreadsheets take up to some thousands, of which LibreOffice once took 1,024. */
export const MAX_EXPORTED_CUSTOM_FIELDS = 1_000;
/** Contract: contact_ids of one call, and filters in `any` and `none` of one; decision: domains of one. */
export const MAX_CONTACT_IDS = 500;
export const MAX_FILTER_PARTS = 10;
export const MAX_FILTER_DOMAINS = 100;
/** Contacts in one transaction of a bulk change: some milliseconds, so that nobody waits long. */
export const BULK_CONTACTS_BATCH = 200;
/** Of the last 100 sends or more: at 5 % large receivers distrust a sender; healthy lists stay below 2 %. */
export const DEFAULT_BOUNCE_PAUSE_THRESHOLD_PERCENT = 5;
/** A footer's postal address. */
export const MAX_POSTAL_ADDRESS_CHARS = 500;
/** Mailboxes that a project's marketing may name. */
export const MAX_MARKETING_ACCOUNTS = 100;
/** Retry-After while the DNS gives no answer: resolvers ask again after some seconds. */
export const MX_RETRY_AFTER_S = 10;
/** Contract: rows of a CSV file that are imported within the request. */
export const IMPORT_ROWS_IN_REQUEST = 500;
/** Addresses of one paste: it ends within the request, so more belong into a file. */
export const MAX_PASTED_ROWS = 5_000;
/** A hundred for each of them: reading so much is some tens of milliseconds, whatever it is. */
export const MAX_PASTE_CHARS = 100 * MAX_PASTED_ROWS;
/** One row of a CSV file: more is a quote that is never closed. */
export const MAX_CSV_ROW_BYTES = 128 * 1024;
/** After this long without an answer an import ends as failed; it can be resumed. */
export const IMPORT_DNS_GIVE_UP_MS = 24 * 3_600_000;
/** An import within its request has a job, too, in case the server dies. It begins after this long. */
export const IMPORT_REQUEST_GRACE_MS = 5 * 60_000;
/** Addresses of rejected rows are of people who are on no list: they go after this long. */
export const IMPORT_REJECTIONS_RETENTION_MS = 90 * 86_400_000;
/** Contract, Limits: subscribe requests of an IP address an hour, confirmation mails of an address a day. */
export const SUBSCRIBES_PER_HOUR = 5;
export const MAX_CONFIRMATIONS_PER_DAY = 3;
/** Decision: confirmation mails of a project and UTC day, so that nobody has a form mail the world. */
export const DEFAULT_CONFIRMATIONS_PER_DAY = 1_000;
/** Decision: a sign-up is an address, two names and a captcha token. */
export const MAX_SUBSCRIBE_BODY_BYTES = 16 * 1024;
/** Decision: strangers' names in mails to people they chose: enough for a name, too short for a text. */
export const MAX_FORM_NAME_CHARS = 64;
/** Decision: confirm links expire after 7 days. */
export const CONFIRMATION_EXPIRY_MS = 7 * 86_400_000;
/** Tries, over hours, of a sign-up whose confirmation finds no mailbox or whose domain no DNS knows. */
export const SUBSCRIBE_MAX_ATTEMPTS = 8;
export const SUBSCRIBE_RETRY_MIN_MS = 60_000;
/** A file that was imported from the shell is kept this long, for a resume. */
export const IMPORTED_FILE_DAYS = 30;

/* --- Sequences ------------------------------------------------------------------------------------------------ */
/** Steps of one sequence: a year of weekly mails, with as many branches. */
export const MAX_STEPS = 100;
/** Ten years; what waits longer waits for nothing. */
export const MAX_DELAY_HOURS = 87_600;
/** Conditions in one `all`, and how deep they may stand in one another: more is a program. */
export const MAX_CONDITION_PARTS = 10;
export const MAX_CONDITION_DEPTH = 3;
/** Exit events and enroll tags of one sequence. */
export const MAX_SEQUENCE_NAMES = 50;
/** Contract: max_recipients is required; the most that it may be. */
export const MAX_RECIPIENTS = 10_000_000;
/** Contract: events of one batch. */
export const MAX_EVENT_BATCH = 100;
/** Facts of an event, as JSON. */
export const MAX_EVENT_META_BYTES = 8 * 1024;
/** An enrollment whose template is gone or switched off looks again after this. */
export const TEMPLATE_WAIT_MS = 10 * 60_000;
/** Enrollments that one transaction makes: a few milliseconds, so that nobody waits long behind it. */
export const ENROLL_PIECE = 200;
/** A preview ends here: tracks may route in a circle. */
export const MAX_PREVIEW_ENTRIES = 200;
/** Decision: distinct links of one mail within seconds, or its invisible link so close by, mean a scanner. */
export const SCANNER_WINDOW_MS = 10_000;
/** Decision: so are two of a mail's link, picture and unsubscribe page within two seconds. */
export const SCANNER_MOMENT_MS = 2_000;
/** Decision: the bounce threshold looks at the last 100 sends. */
export const BOUNCE_WINDOW_SENDS = 100;
/** Decision: so many of the last REFUSAL_WINDOW_MAILS (or fewer) refused because of the sender pause it. */
export const REFUSALS_TO_PAUSE = 20;
export const REFUSAL_WINDOW_MAILS = 100;

/* --- Broadcasts ----------------------------------------------------------------------------------------------- */
/** Decision: an older one, as the server did not run, waits until somebody says that it is still wanted. */
export const BROADCAST_LATE_MS = 24 * 3_600_000;

/* --- Marketing mail -------------------------------------------------------------------------------------------- */
/** Clicks and opens wait this long for a shared transaction. Decision: on disk 200 ms after the answer. */
export const CLICK_FLUSH_MS = 50;
/** Clicks of one mail that are kept. People follow a few links; scanners all, some of them daily. */
export const MAX_CLICKS_PER_EMAIL = 100;

/* --- Webhooks --------------------------------------------------------------------------------------------------- */
/** Of one project: each gets a copy of what happens. */
export const MAX_WEBHOOKS_PER_PROJECT = 20;
/** Decision: the wait after each failed try of a delivery, up to a tenth longer. The last one fails it. */
export const WEBHOOK_RETRY_DELAYS_S: readonly number[] = [
  5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
];
/** Decision: one try, from the look-up of the name to the end of the answer's headers. */
export const WEBHOOK_TRY_TIMEOUT_MS = 15_000;
/** Decision: tries of one webhook at once. */
export const WEBHOOK_TRIES_AT_ONCE = 4;
/** Decision: a webhook that fails for so long is switched off; switched on, it drops what waited longer. */
export const WEBHOOK_PATIENCE_MS = 3 * 86_400_000;
/** Decision: both secrets sign for so long after a rotation. */
export const WEBHOOK_OLD_SECRET_MS = 24 * 3_600_000;
/** Decision: deliveries and what they carry are kept 30 days. */
export const WEBHOOK_RETENTION_MS = 30 * 86_400_000;
/** Test deliveries of a project: each is made while the client waits. */
export const WEBHOOK_TESTS_PER_MINUTE = 30;
