/**
 * Every cap, timeout and retention of Satchel, with its reason or source. Units stand last in a name. What an
 * operator may set is in `config.ts`; a default of such a setting is here.
 * Sources: "contract" is the service specification, "decision" what it leaves open.
 */

/* --- HTTP ----------------------------------------------------------------------------------------------------- */

/** Contract, Limits: default and maximum page size of all paginated lists. */
export const DEFAULT_PER_PAGE = 20;
export const MAX_PER_PAGE = 50;
/** A JSON body: two email bodies of the default size, escaped, with room for variables. Grows with the email limit. */
export const MIN_JSON_BODY_BYTES = 2 * 1024 * 1024;
/** Decision: JSON nested deeper is 422. */
export const MAX_JSON_DEPTH = 64;
/** A JSON body is small: a client that needs longer is stalled. */
export const JSON_BODY_DEADLINE_MS = 30_000;
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
/** Browsers may keep a preflight's answer for this long (Chromium's own cap is 2 h). */
export const CORS_MAX_AGE_S = 7_200;

/* --- Rates ---------------------------------------------------------------------------------------------------- */

export const RATE_WINDOW_MS = 60_000;
/** Decision: rate_limit_per_minute null means 600. */
export const DEFAULT_KEY_RATE_PER_MINUTE = 600;
/** Decision: 6,000 requests a minute for each management token. */
export const TOKEN_RATE_PER_MINUTE = 6_000;
/** Contract, Limits: captcha verify, per API key. */
export const CAPTCHA_RATE_PER_MINUTE = 60;

/* --- Jobs ----------------------------------------------------------------------------------------------------- */

/** Contract: queued email is attempted three times. */
export const EMAIL_MAX_ATTEMPTS = 3;
/** How many jobs one claim marks as processing, so that one commit carries many attempts. */
export const JOB_CLAIM_BATCH = 100;
/** How many jobs of one lane (a sending domain, say) run at once; a hanging relay can hold no more than these. */
export const LANE_CONCURRENCY = 40;
/** Finished jobs are kept this long for clients that poll late. */
export const JOB_RETENTION_MS = 30 * 86_400_000;
/** setTimeout overflows past 2^31 ms; a longer sleep is cut into pieces of at most this, which also notices a clock that jumped. */
export const JOB_MAX_SLEEP_MS = 60_000;
/** Another process (the CLI) may have enqueued work: PRAGMA data_version, a read of shared memory, is compared this often. */
export const OTHER_PROCESS_CHECK_MS = 250;

/* --- Database ------------------------------------------------------------------------------------------------- */

/** The CLI's transactions are short; waiting longer means something is wrong. */
export const BUSY_TIMEOUT_MS = 5_000;
/** Below this many free bytes health says `degraded`: SQLite's WAL needs some to commit at all. */
export const MIN_FREE_DISK_BYTES = 8 * 1024 * 1024;

/* --- Projects, keys, tokens ----------------------------------------------------------------------------------- */

/** Contract: project name. Slugs share it, since generated ones come from names. */
export const MAX_NAME_CHARS = 255;
/** A text an admin writes about a project; far more than anybody needs, far less than a row that hurts lists. */
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
export const TOKEN_LAST_USED_GRANULARITY_MS = 60_000;

/* --- Objects -------------------------------------------------------------------------------------------------- */

/** Contract: 10 MB by default. */
export const DEFAULT_MAX_UPLOAD_BYTES = 10_485_760;
/** Decision: uploads per key and minute. */
export const DEFAULT_UPLOADS_PER_MINUTE = 120;
/** Contract: expires_in_days. */
export const MIN_EXPIRES_IN_DAYS = 1;
export const MAX_EXPIRES_IN_DAYS = 3_650;
/** Decision: a file name is at most 255 bytes, the limit of common file systems. */
export const MAX_FILENAME_BYTES = 255;
/** Signatures of the formats people upload stand in the first 4 KiB. */
export const SNIFF_BYTES = 4_100;

/* --- Email ---------------------------------------------------------------------------------------------------- */

/** Decision: each of body_html and body_text. */
export const DEFAULT_MAX_EMAIL_BODY_BYTES = 512_000;
/** Decision: seconds before attempts 2 and 3. */
export const DEFAULT_EMAIL_RETRY_DELAYS_S: readonly [number, number] = [15, 60];
/** Contract, Limits. */
export const MAX_SUBJECT_CHARS = 500;
export const MAX_DISPLAY_NAME_CHARS = 255;
export const MAX_COPIES = 10;
export const MAX_ATTACHMENTS = 5;
export const MAX_SCHEDULE_RECIPIENTS = 50;
export const MAX_DESCRIPTION_CHARS = 2_000;
/** Decision: attachments of one mail, before base64. */
export const MAX_ATTACHMENTS_BYTES = 25 * 1024 * 1024;
/** RFC 5321 4.5.3.1.3: a path is at most 256 octets with its angle brackets. */
export const MAX_ADDRESS_CHARS = 254;
/** Decision: SMTP deadlines. */
export const SMTP_CONNECT_TIMEOUT_MS = 10_000;
export const SMTP_GREETING_TIMEOUT_MS = 10_000;
export const SMTP_COMMAND_TIMEOUT_MS = 30_000;
export const SMTP_DATA_TIMEOUT_MS = 120_000;
/** Open connections to one relay; most providers allow at least 10. */
export const SMTP_CONNECTIONS_PER_MAILBOX = 10;
/** Servers drop an idle connection after one to five minutes; closing first avoids most races with that. */
export const SMTP_IDLE_CLOSE_MS = 30_000;
/** Worker thread and its 20 to 30 MB are given back after this long without a mail. */
export const MAILER_IDLE_STOP_MS = 5 * 60_000;
/** Mails whose attachments sum up to more are streamed from disk, twice when signed, instead of being held in memory. */
export const MAX_BUFFERED_MESSAGE_BYTES = 1024 * 1024;
/** Parsed DKIM keys in memory, 2 KB each; far more than one team has sending domains. */
export const MAX_CACHED_DKIM_KEYS = 500;
/** HTML nested deeper than this is cut in a derived text part: the converter is recursive. */
export const MAX_DERIVED_TEXT_DEPTH = 200;
/** RFC 6376 3.3.3: signers use at least 1024 bits; 2048 is what receivers recommend. */
export const DKIM_KEY_BITS = 2_048;

/* --- DNS ------------------------------------------------------------------------------------------------------ */

/** A dead server would otherwise keep a look-up pending for more than 9 s. */
export const DNS_DEADLINE_MS = 5_000;
/** One UDP try; with two tries a server the look-up stays within its deadline. */
export const DNS_TRY_TIMEOUT_MS = 1_500;
export const DNS_TRIES_PER_SERVER = 2;
/** DNS Flag Day 2020: the largest UDP answer that crosses every common network unfragmented. */
export const DNS_UDP_PAYLOAD_BYTES = 1_232;
/** RFC 1035 2.3.4: a label and a whole name, written with dots. */
export const MAX_DNS_LABEL_CHARS = 63;
export const MAX_DNS_NAME_CHARS = 253;

/* --- Captcha -------------------------------------------------------------------------------------------------- */

/** Decision: past it the provider counts as unreachable. */
export const DEFAULT_CAPTCHA_TIMEOUT_MS = 5_000;
/** Contract, Limits. */
export const MAX_CAPTCHA_TOKEN_CHARS = 4_096;

/* --- Vault ---------------------------------------------------------------------------------------------------- */

/** Decision: a stored configuration file. */
export const MAX_VAULT_FILE_BYTES = 1024 * 1024;

/* --- Imports -------------------------------------------------------------------------------------------------- */

/** Contract, Limits: background CSV imports. */
export const DEFAULT_IMPORT_ROWS_PER_MINUTE = 500;
