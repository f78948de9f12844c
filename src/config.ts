/** The only reader of the environment: settings and flags become one frozen Config, or an error. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { domainToASCII } from 'node:url';
import { AppError, messageOf } from './errors.ts';
import * as limits from './limits.ts';
import { withoutServiceLinks } from './service-links.ts';
import { readSmtp, SMTP_MAX_BYTES, SMTP_SETTINGS, type SmtpSettings } from './smtp-settings.ts';
import { readS3Place, type S3Settings } from './store-place.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** What SATCHEL_TLS and the settings beside it say. */
export interface TlsSettings {
  /** Host names in lower case, as the DNS has them; the first is the public URL's. */
  readonly names: readonly string[];
  /** The address of the authority's ACME directory. */
  readonly acme_directory: string;
  /** Where the authority writes to; null is nowhere. */
  readonly acme_email: string | null;
  /** Where the authority asks, and everybody else is sent on to https. */
  readonly http_port: number;
}

export interface Config {
  readonly data_dir: string;
  /** Where the server keeps its backups; null is in the data directory. */
  readonly backup_dir: string | null;
  readonly host: string;
  readonly port: number;
  /** How HTTPS is served; null where a proxy does that, or nobody. */
  readonly tls: TlsSettings | null;
  /** Without a trailing slash. */
  readonly public_url: string;
  readonly env: string;
  readonly master_key: string | null;
  readonly master_key_file: string | null;
  readonly passphrase: string | null;
  readonly max_upload_bytes: number;
  readonly allowed_mime_types: readonly string[];
  readonly uploads_per_minute: number;
  /** Where the bytes of new objects go; null is the data directory. */
  readonly object_store: S3Settings | null;
  /** Downloads of more bytes than this are redirected to the store; null is none. */
  readonly object_redirect_bytes: number | null;
  /** What the image variants that are kept may take. */
  readonly variants_max_bytes: number;
  readonly max_email_body_bytes: number;
  readonly email_retry_delays_s: readonly [number, number];
  readonly marketing_patience_hours: number;
  /** Where mail is taken by SMTP; null is nowhere. */
  readonly smtp: SmtpSettings | null;
  readonly captcha_verify_url: string;
  readonly captcha_timeout_ms: number;
  readonly dns_servers: readonly string[];
  /** Hosts and networks that webhooks may go to though they are private, and by plain http. */
  readonly webhook_allow: readonly string[];
  readonly import_rows_per_minute: number;
  readonly confirmations_per_day: number;
  readonly trusted_proxies: readonly string[];
  readonly log_level: LogLevel;
  readonly log_format: 'text' | 'json';
  /** For a verb: where the server listens whose settings these are; null where none runs, and in a server. */
  readonly served_at: string | null;
}

/** Flags of the command line; a flag wins over its variable. */
export interface ConfigFlags {
  data_dir?: string | undefined;
  host?: string | undefined;
  port?: string | undefined;
  public_url?: string | undefined;
  tls?: string | undefined;
  acme_directory?: string | undefined;
  acme_email?: string | undefined;
  tls_http_port?: string | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Every setting there is. */
export const SETTINGS = [
  'SATCHEL_DATA_DIR',
  'SATCHEL_BACKUP_DIR',
  'SATCHEL_HOST',
  'SATCHEL_PORT',
  'SATCHEL_PUBLIC_URL',
  'SATCHEL_TLS',
  'SATCHEL_ACME_DIRECTORY',
  'SATCHEL_ACME_EMAIL',
  'SATCHEL_TLS_HTTP_PORT',
  'SATCHEL_ENV',
  'SATCHEL_MASTER_KEY',
  'SATCHEL_MASTER_KEY_FILE',
  'SATCHEL_PASSPHRASE',
  'SATCHEL_MAX_UPLOAD_BYTES',
  'SATCHEL_ALLOWED_MIME_TYPES',
  'SATCHEL_UPLOADS_PER_MINUTE',
  'SATCHEL_OBJECT_STORE',
  'SATCHEL_OBJECT_REDIRECT',
  'SATCHEL_S3_ACCESS_KEY_ID',
  'SATCHEL_S3_ACCESS_KEY_ID_FILE',
  'SATCHEL_S3_SECRET_ACCESS_KEY',
  'SATCHEL_S3_SECRET_ACCESS_KEY_FILE',
  'SATCHEL_VARIANTS_MAX_BYTES',
  'SATCHEL_MAX_EMAIL_BODY_BYTES',
  'SATCHEL_EMAIL_RETRY_DELAYS',
  'SATCHEL_MARKETING_PATIENCE_HOURS',
  ...SMTP_SETTINGS,
  'SATCHEL_CAPTCHA_VERIFY_URL',
  'SATCHEL_CAPTCHA_TIMEOUT_MS',
  'SATCHEL_DNS_SERVERS',
  'SATCHEL_WEBHOOK_ALLOW',
  'SATCHEL_IMPORT_ROWS_PER_MINUTE',
  'SATCHEL_CONFIRMATIONS_PER_DAY',
  'SATCHEL_TRUSTED_PROXIES',
  'SATCHEL_LOG_LEVEL',
  'SATCHEL_LOG_FORMAT',
] as const;

/** Settings that are whole numbers, by the field that each becomes. */
const INTEGERS = {
  max_upload_bytes: { fallback: limits.DEFAULT_MAX_UPLOAD_BYTES, min: 1, max: 1024 ** 4 },
  uploads_per_minute: { fallback: limits.DEFAULT_UPLOADS_PER_MINUTE, min: 1, max: 1_000_000 },
  captcha_timeout_ms: { fallback: limits.DEFAULT_CAPTCHA_TIMEOUT_MS, min: 1, max: 60_000 },
  import_rows_per_minute: { fallback: limits.DEFAULT_IMPORT_ROWS_PER_MINUTE, min: 1, max: 10_000_000 },
  confirmations_per_day: { fallback: limits.DEFAULT_CONFIRMATIONS_PER_DAY, min: 1, max: 10_000_000 },
  variants_max_bytes: { fallback: limits.DEFAULT_VARIANTS_MAX_BYTES, min: 0, max: 1024 ** 4 },
  max_email_body_bytes: {
    fallback: limits.DEFAULT_MAX_EMAIL_BODY_BYTES,
    min: 1,
    max: limits.MAX_EMAIL_BODY_SETTING_BYTES,
  },
  marketing_patience_hours: {
    fallback: limits.DEFAULT_MARKETING_PATIENCE_HOURS,
    min: 1,
    max: limits.MAX_MARKETING_PATIENCE_HOURS,
  },
  smtp_max_bytes: SMTP_MAX_BYTES,
};

type Setting = (typeof SETTINGS)[number];

/** A value as it was given, and what to call it: its variable or its flag. */
interface Given {
  text: string | null;
  name: string;
}

type FlagOr = (flag: string | undefined, option: string, name: Setting) => Given;

function bad(setting: string, expected: string): AppError {
  return new AppError('invalid', `${setting} ${expected}.`);
}

/**
 * Reads and checks the settings. Empty variables count as unset. Throws AppError `invalid` with the first
 * setting or flag that makes no sense, or an unknown SATCHEL_ variable.
 */
export function loadConfig(given_env: Environment, flags: ConfigFlags = {}, is_terminal = false): Config {
  const env = withoutServiceLinks(given_env);
  refuseUnknown(env);
  const get = (name: Setting): string | null => env[name]?.trim() || null;
  const integer = (field: keyof typeof INTEGERS): number => {
    const name = `SATCHEL_${field.toUpperCase()}`;
    return readInteger({ text: env[name]?.trim() || null, name }, INTEGERS[field]);
  };
  // A complaint names what the value came from.
  const given = (name: Setting): Given => ({ text: get(name), name });
  const flagOr: FlagOr = (flag, option, name) =>
    flag === undefined ? given(name) : { text: flag, name: option };
  const tls = readTls(flags, flagOr);
  const host = readHost(flagOr(flags.host, '--host', 'SATCHEL_HOST'), tls);
  const port = readPort(flagOr(flags.port, '--port', 'SATCHEL_PORT'), tls ? 443 : 8420);
  if (tls && port !== 0 && port === tls.http_port)
    throw bad('--tls-http-port (SATCHEL_TLS_HTTP_PORT)', 'must be another port than that of https');
  const sources = (['SATCHEL_MASTER_KEY', 'SATCHEL_MASTER_KEY_FILE', 'SATCHEL_PASSPHRASE'] as const).filter(
    (name) => get(name),
  );
  if (sources.length > 1) throw bad(sources.join(' and '), 'exclude each other: set only one of them');
  const data_dir = resolve(flags.data_dir ?? get('SATCHEL_DATA_DIR') ?? './data');
  return Object.freeze({
    data_dir,
    backup_dir: readBackupDir(given('SATCHEL_BACKUP_DIR'), data_dir),
    host,
    port,
    tls,
    public_url: readPublicUrl(flagOr(flags.public_url, '--public-url', 'SATCHEL_PUBLIC_URL'), port, tls),
    env: get('SATCHEL_ENV') ?? 'production',
    master_key: get('SATCHEL_MASTER_KEY'),
    master_key_file: get('SATCHEL_MASTER_KEY_FILE'),
    passphrase: env.SATCHEL_PASSPHRASE || null,
    max_upload_bytes: integer('max_upload_bytes'),
    allowed_mime_types: readMimeTypes(get('SATCHEL_ALLOWED_MIME_TYPES')),
    uploads_per_minute: integer('uploads_per_minute'),
    object_store: readObjectStore(get),
    object_redirect_bytes: readRedirect(get('SATCHEL_OBJECT_REDIRECT')),
    variants_max_bytes: integer('variants_max_bytes'),
    max_email_body_bytes: integer('max_email_body_bytes'),
    email_retry_delays_s: readRetryDelays(get('SATCHEL_EMAIL_RETRY_DELAYS')),
    marketing_patience_hours: integer('marketing_patience_hours'),
    smtp: readSmtp({
      get,
      bad,
      http: { port, tls },
      host: readHost(given('SATCHEL_SMTP_HOST'), null),
      portOf: (name) => (get(name) === null ? null : readPort(given(name), 0)),
      plain_from: readNetworks(given('SATCHEL_SMTP_PLAIN_FROM')),
      max_bytes: integer('smtp_max_bytes'),
    }),
    captcha_verify_url: readUrl(
      get('SATCHEL_CAPTCHA_VERIFY_URL') ?? 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
      'SATCHEL_CAPTCHA_VERIFY_URL',
    ).href,
    captcha_timeout_ms: integer('captcha_timeout_ms'),
    dns_servers: readDnsServers(get('SATCHEL_DNS_SERVERS')),
    webhook_allow: readWebhookAllow(get('SATCHEL_WEBHOOK_ALLOW')),
    import_rows_per_minute: integer('import_rows_per_minute'),
    confirmations_per_day: integer('confirmations_per_day'),
    trusted_proxies: readNetworks(given('SATCHEL_TRUSTED_PROXIES')),
    log_level: readChoice(given('SATCHEL_LOG_LEVEL'), ['debug', 'info', 'warn', 'error'], 'info'),
    log_format: readChoice(given('SATCHEL_LOG_FORMAT'), ['text', 'json'], is_terminal ? 'text' : 'json'),
    served_at: null,
  });
}

/** The process's own environment, handed on explicitly so that nothing else reads it. */
export function processEnvironment(): Environment {
  return process.env;
}

/** Has variables hold where the process has none of the name, or an empty one. Returns the names of these. */
export function addToEnvironment(variables: Readonly<Record<string, string>>): string[] {
  const added = Object.entries(variables).filter(([name, value]) => value !== '' && !process.env[name]);
  Object.assign(process.env, Object.fromEntries(added));
  return added.map(([name]) => name);
}

function refuseUnknown(env: Environment): void {
  const known: readonly string[] = SETTINGS;
  const unknown = Object.keys(env).find((name) => name.startsWith('SATCHEL_') && !known.includes(name));
  if (unknown) throw bad(unknown, `is not a setting of Satchel; the settings are ${SETTINGS.join(', ')}`);
}

function readInteger({ text, name }: Given, rule: { fallback: number; min: number; max: number }): number {
  if (text === null) return rule.fallback;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= rule.min && value <= rule.max)) {
    throw bad(name, `must be a whole number from ${rule.min} to ${rule.max}`);
  }
  return value;
}

function readPort(given: Given, fallback: number): number {
  return readInteger(given, { fallback, min: 0, max: 65_535 });
}

const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory';

/** RFC 1123, with a dot: no public authority vouches for a name without one. */
const NAME = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** The names of a comma-separated list; or what is wrong with it, to go behind the setting's name. */
function readTlsNames(entries: readonly string[]): readonly string[] | string {
  const names = [...new Set(entries.map((entry) => domainToASCII(entry)))];
  if (entries.some((entry) => entry.startsWith('*')))
    return 'must name each host: a certificate for *.example.com can only be had through the DNS';
  if (names.length === 0 || names.some((name) => !NAME.test(name)))
    return 'must be a comma-separated list of host names, such as example.com,www.example.com';
  if (names.length > limits.MAX_TLS_NAMES) return `must name at most ${limits.MAX_TLS_NAMES} hosts`;
  return names;
}

/** Every address of this machine: a listener on `::` takes IPv4 as well, where there is IPv6 at all. */
function allAddresses(): string {
  const families = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return families.some(({ family }) => family === 'IPv6') ? '::' : '0.0.0.0';
}

function readTls(flags: ConfigFlags, flagOr: FlagOr): TlsSettings | null {
  const { text, name } = flagOr(flags.tls, '--tls', 'SATCHEL_TLS');
  if (text === null) {
    const { acme_directory, acme_email, tls_http_port } = flags;
    const alone = Object.entries({ acme_directory, acme_email, tls_http_port }).find(([, flag]) => flag);
    if (alone) throw bad(`--${alone[0].replaceAll('_', '-')}`, 'goes with --tls');
    return null;
  }
  const names = readTlsNames(readList(text));
  if (typeof names === 'string') throw bad(name, names);
  const directory = flagOr(flags.acme_directory, '--acme-directory', 'SATCHEL_ACME_DIRECTORY');
  const { href, protocol } = readUrl(directory.text ?? LETS_ENCRYPT, directory.name);
  if (protocol !== 'https:')
    throw bad(directory.name, "must be the https address of an authority's directory");
  const email = flagOr(flags.acme_email, '--acme-email', 'SATCHEL_ACME_EMAIL');
  // An authority is told `mailto:` and this, and takes neither a second address nor a header field.
  if (email.text !== null && !/^[^\s@,?]+@[^\s@,?]+$/.test(email.text))
    throw bad(email.name, 'must be one email address, such as admin@example.com');
  return {
    names,
    acme_directory: href,
    acme_email: email.text,
    http_port: readPort(flagOr(flags.tls_http_port, '--tls-http-port', 'SATCHEL_TLS_HTTP_PORT'), 80),
  };
}

function readHost({ text, name }: Given, tls: TlsSettings | null): string {
  const host = text ?? (tls ? allAddresses() : '127.0.0.1');
  if (isIP(host) === 0 && !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host)) {
    throw bad(name, 'must be an IP address or a host name, such as 127.0.0.1 or 0.0.0.0');
  }
  return host;
}

function readUrl(text: string, name: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw bad(name, 'must be a full http or https address, such as https://files.example.com');
  }
  return url;
}

function readPublicUrl({ text, name }: Given, port: number, tls: TlsSettings | null): string {
  if (text === null)
    return tls ? `https://${tls.names[0]}${port === 443 ? '' : `:${port}`}` : `http://localhost:${port}`;
  const url = readUrl(text, name);
  if (tls && url.protocol === 'http:')
    throw bad(name, 'must be an https address, as --tls (SATCHEL_TLS) serves nothing else');
  if (url.search || url.hash || url.username || url.password) {
    throw bad(name, 'must have no user, query or fragment');
  }
  if (!/^\/*$/.test(url.pathname))
    throw bad(
      name,
      'must have no path: Satchel wants a host name of its own (SATCHEL_PUBLIC_URL=https://files.example.com)',
    );
  return url.href.replace(/\/+$/, '');
}

function readBackupDir({ text, name }: Given, data_dir: string): string | null {
  if (text === null) return null;
  if (!isAbsolute(text)) throw bad(name, 'must be an absolute path, such as /var/lib/satchel-backups');
  if (resolve(text) === data_dir) throw bad(name, 'must be another folder than the data directory');
  return resolve(text);
}

function readList(text: string | null): string[] {
  return (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function readMimeTypes(text: string | null): readonly string[] {
  const types = readList(text).map((type) => type.toLowerCase());
  if (types.some((type) => !/^[a-z0-9!#$&^_.+-]+\/([a-z0-9!#$&^_.+-]+|\*)$/.test(type))) {
    throw bad('SATCHEL_ALLOWED_MIME_TYPES', 'must be a comma-separated list such as image/*,application/pdf');
  }
  return types;
}

function readRetryDelays(text: string | null): readonly [number, number] {
  if (text === null) return limits.DEFAULT_EMAIL_RETRY_DELAYS_S;
  const [, ...delays] = /^(\d{1,6}),(\d{1,6})$/.exec(readList(text).join()) ?? [];
  const [first = Number.NaN, second = Number.NaN] = delays.map(Number);
  if (!(first <= 86_400 && second <= 86_400))
    throw bad(
      'SATCHEL_EMAIL_RETRY_DELAYS',
      'must be two whole numbers of seconds up to 86400, such as 15,300',
    );
  return [first, second];
}

/** In bytes, of a setting in MiB. */
function readRedirect(text: string | null): number | null {
  const given = { text, name: 'SATCHEL_OBJECT_REDIRECT' };
  return text === null ? null : readInteger(given, { fallback: 0, min: 0, max: 1024 ** 2 }) * 1024 ** 2;
}

function readObjectStore(get: (name: Setting) => string | null): S3Settings | null {
  const text = get('SATCHEL_OBJECT_STORE');
  if (text === null) return null;
  const place = readS3Place(text);
  if (typeof place === 'string') throw bad('SATCHEL_OBJECT_STORE', place);
  const most = limits.STORE_PART_BYTES * limits.STORE_MAX_PARTS;
  if (Number(get('SATCHEL_MAX_UPLOAD_BYTES')) > most)
    throw bad('SATCHEL_MAX_UPLOAD_BYTES', `must be at most ${most} with SATCHEL_OBJECT_STORE`);
  const [access_key_id, secret_access_key] = (
    ['SATCHEL_S3_ACCESS_KEY_ID', 'SATCHEL_S3_SECRET_ACCESS_KEY'] as const
  ).map((name) => readSecret(name, get(name), get(`${name}_FILE`)));
  return { ...place, access_key_id: access_key_id ?? '', secret_access_key: secret_access_key ?? '' };
}

function readSecret(name: Setting, value: string | null, file: string | null): string {
  if (value !== null && file !== null)
    throw bad(`${name} and ${name}_FILE`, 'exclude each other: set only one');
  if (value === null && file === null)
    throw bad(name, `must be set where SATCHEL_OBJECT_STORE is, or ${name}_FILE to a file that holds it`);
  if (file === null) return value ?? '';
  let secret: string;
  try {
    secret = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw bad(`${name}_FILE`, `names a file that can't be read: ${messageOf(error)}`);
  }
  if (secret === '') throw bad(`${name}_FILE`, 'names an empty file');
  return secret;
}

/** `ip`, `ip:port` or `[ipv6]:port`. */
function readDnsServers(text: string | null): readonly string[] {
  const servers = readList(text);
  for (const server of servers) {
    const match = /^(?:\[([^\]]+)\]|([^:]+)|([0-9a-f:]+))(?::(\d{1,5}))?$/i.exec(server);
    const ip = match?.[1] ?? match?.[2] ?? match?.[3] ?? '';
    if (isIP(server) === 0 && (isIP(ip) === 0 || Number(match?.[4] ?? 53) > 65_535)) {
      throw bad('SATCHEL_DNS_SERVERS', 'must be a comma-separated list of ip:port, such as 9.9.9.9:53');
    }
  }
  return servers;
}

function isNetwork(text: string): boolean {
  const [ip = '', bits, ...rest] = text.split('/');
  const family = isIP(ip);
  const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
  return family !== 0 && fits && rest.length === 0;
}

function readNetworks({ text, name }: Given): readonly string[] {
  const networks = readList(text);
  if (networks.every(isNetwork)) return networks;
  throw bad(name, 'must be a comma-separated list of addresses or networks, such as 10.0.0.0/8');
}

/** Names are kept as a URL has them: in lower case and ASCII. */
function readWebhookAllow(text: string | null): readonly string[] {
  return readList(text).map((entry) => {
    const name = domainToASCII(entry);
    const is_name = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(name) && !/(^|\.)[0-9]+$/.test(name);
    if (isNetwork(entry) || is_name) return isNetwork(entry) ? entry : name;
    throw bad(
      'SATCHEL_WEBHOOK_ALLOW',
      'must be a comma-separated list of host names, addresses or networks, such as hooks.internal,10.0.0.0/8, without schemes and ports',
    );
  });
}

function readChoice<T extends string>({ text, name }: Given, choices: readonly T[], fallback: T): T {
  if (text === null) return fallback;
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined) throw bad(name, `must be one of ${choices.join(', ')}`);
  return choice;
}
