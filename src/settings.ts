/** Every setting, one line each: SATCHEL_ and its name is the variable. How its text is read, and what holds where it is not given. */
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { AppError } from './errors.ts';

/** A value as it was given, and what to call it: its variable or its flag. */
export interface Given {
  text: string | null;
  name: string;
}

/** Makes a value of a text. Throws what `wrong` makes of what would be right. */
type Reader<T> = (text: string, wrong: (expected: string) => AppError) => T;

/** The failure of a setting: what it must be, to go behind its name. */
export function bad(setting: string, expected: string): AppError {
  return new AppError('invalid', `${setting} ${expected}.`);
}

/* --- How texts are read ----------------------------------------------------------------------------------------- */

const asIs: Reader<string> = (text) => text;

function numberFrom(min: number, max: number): Reader<number> {
  return (text, wrong) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw wrong(`must be a whole number from ${min} to ${max}`);
  };
}

const portNumber = numberFrom(0, 65_535);

const hostName: Reader<string> = (text, wrong) => {
  if (isIP(text) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text)) return text;
  throw wrong('must be an IP address or a host name, such as 127.0.0.1 or 0.0.0.0');
};

export const url: Reader<URL> = (text, wrong) => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw wrong('must be a full http or https address, such as https://files.example.com');
};

/** Templates of deploy tools know a host alone: what it serves to the world is https. */
const publicUrl: Reader<URL> = (text, wrong) => {
  const is_bare = /^(?=.*[a-z.:])[a-z0-9][a-z0-9.-]*(?::\d+)?$/i.test(text);
  return url(is_bare ? `https://${text}` : text, () =>
    wrong('must be an http or https address, or its host alone, such as https://files.example.com'),
  );
};

/** As templates make them, and as a path takes them. */
const welcomeToken: Reader<string> = (text, wrong) => {
  if (/^[A-Za-z0-9_-]{32,128}$/.test(text)) return text;
  throw wrong('must be 32 to 128 letters, digits, - and _, such as openssl rand -hex 32 prints');
};

/** As text, as threads get the settings. */
const address: Reader<string> = (text, wrong) => url(text, wrong).href;

const twoDelays: Reader<readonly [number, number]> = (text, wrong) => {
  const [, ...delays] = /^(\d{1,6}),(\d{1,6})$/.exec(listed(text).join()) ?? [];
  const [first = Number.NaN, second = Number.NaN] = delays.map(Number);
  if (first <= 86_400 && second <= 86_400) return [first, second];
  throw wrong('must be two whole numbers of seconds up to 86400, such as 15,300');
};

function oneOf<T extends string>(...choices: T[]): Reader<T> {
  return (text, wrong) => {
    const choice = choices.find((candidate) => candidate === text);
    if (choice !== undefined) return choice;
    throw wrong(`must be one of ${choices.join(', ')}`);
  };
}

/** The entries of a comma-separated list. */
export function listed(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** `readEntry` gives null for what is no entry. */
function listOf(expected: string, readEntry: (entry: string) => string | null): Reader<readonly string[]> {
  return (text, wrong) =>
    listed(text).map((entry) => {
      const read = readEntry(entry);
      if (read === null) throw wrong(`must be a comma-separated list ${expected}`);
      return read;
    });
}

const mediaTypes = listOf('such as image/*,application/pdf', (entry) => {
  const type = entry.toLowerCase();
  return /^[a-z0-9!#$&^_.+-]+\/([a-z0-9!#$&^_.+-]+|\*)$/.test(type) ? type : null;
});

/** `ip`, `ip:port` or `[ipv6]:port`. */
const dnsServers = listOf('of ip:port, such as 9.9.9.9:53', (entry) => {
  const match = /^(?:\[([^\]]+)\]|([^:]+)|([0-9a-f:]+))(?::(\d{1,5}))?$/i.exec(entry);
  const ip = match?.[1] ?? match?.[2] ?? match?.[3] ?? '';
  return isIP(entry) !== 0 || (isIP(ip) !== 0 && Number(match?.[4] ?? 53) <= 65_535) ? entry : null;
});

function asNetwork(entry: string): string | null {
  const [ip = '', bits, ...rest] = entry.split('/');
  const family = isIP(ip);
  const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
  return family !== 0 && fits && rest.length === 0 ? entry : null;
}

const networks = listOf('of addresses or networks, such as 10.0.0.0/8', asNetwork);

/** Names are kept as a URL has them: in lower case and ASCII. */
const hostsAndNetworks = listOf(
  'of host names, addresses or networks, such as hooks.internal,10.0.0.0/8, without schemes and ports',
  (entry) => {
    const name = domainToASCII(entry);
    const is_name = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(name) && !/(^|\.)[0-9]+$/.test(name);
    return asNetwork(entry) ?? (is_name ? name : null);
  },
);

const domains = listOf('of domains of addresses, such as example.com,example.org', (entry) => {
  const name = domainToASCII(entry);
  return /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]+$/.test(name) ? name : null;
});

/** What stands on a button. */
const label: Reader<string> = (text, wrong) => {
  if (/^[^\p{Cc}]{1,60}$/u.test(text)) return text;
  throw wrong('must be one line of at most 60 characters');
};

/* --- The settings ----------------------------------------------------------------------------------------------- */

function setting<T>(fallback: T, read: Reader<T>) {
  return {
    fallback,
    /** Throws AppError `invalid`, which names the setting. */
    read: ({ text, name }: Given): T =>
      text === null ? fallback : read(text, (expected) => bad(name, expected)),
  };
}

/** For what config.ts puts together of several, or under another name. */
function part<T>(fallback: T, read: Reader<T>) {
  return { ...setting(fallback, read), is_part: true } as const;
}

function integer(fallback: number, { min = 1, max }: { min?: number; max: number }) {
  return setting(fallback, numberFrom(min, max));
}

export const SETTINGS = {
  data_dir: part('./data', asIs),
  backup_dir: part(null, asIs),
  host: part(null, hostName),
  port: part(null, portNumber),
  public_url: part(null, publicUrl),
  tls: part(null, asIs),
  acme_directory: part(new URL('https://acme-v02.api.letsencrypt.org/directory'), url),
  acme_email: part(null, asIs),
  tls_http_port: part(80, portNumber),
  env: setting('production', asIs),
  master_key: setting(null, asIs),
  master_key_file: setting(null, asIs),
  passphrase: setting(null, asIs),
  welcome_token: setting(null, welcomeToken),
  oidc_issuer: part(null, url),
  oidc_client_id: part(null, asIs),
  oidc_client_secret: part(null, asIs),
  oidc_client_secret_file: part(null, asIs),
  oidc_label: part('Single sign-on', label),
  /** Whoever has a verified address there comes in without an invitation. */
  oidc_invites: part([], domains),
  oidc_only: part('false', oneOf('true', 'false')),
  /** Contract: 10 MB by default. */
  max_upload_bytes: integer(10 * 1024 ** 2, { max: 1024 ** 4 }),
  allowed_mime_types: setting([], mediaTypes),
  /** Decision: for each key. */
  uploads_per_minute: integer(120, { max: 1_000_000 }),
  object_store: part(null, asIs),
  /** In MiB. */
  object_redirect: part(null, numberFrom(0, 1024 ** 2)),
  s3_access_key_id: part(null, asIs),
  s3_access_key_id_file: part(null, asIs),
  s3_secret_access_key: part(null, asIs),
  s3_secret_access_key_file: part(null, asIs),
  /** Decision: what the image variants that are kept may take on the disk. */
  variants_max_bytes: integer(1024 ** 3, { min: 0, max: 1024 ** 4 }),
  /** Decision: each of body_html and body_text. Relays refuse mails that are larger than the most of it. */
  max_email_body_bytes: integer(512_000, { max: 25 * 1024 ** 2 }),
  /** Decision: seconds before attempts 2 and 3; the last outlasts a greylisting of five minutes. */
  email_retry_delays: part([15, 300], twoDelays),
  /** Decision: how long a campaign's mail is tried; a week at most. */
  marketing_patience_hours: integer(24, { max: 168 }),
  smtp_host: part('127.0.0.1', hostName),
  smtp_port: part(null, portNumber),
  smtps_port: part(null, portNumber),
  smtp_tls_cert: part(null, asIs),
  smtp_tls_key: part(null, asIs),
  smtp_plain_from: part([], networks),
  /** Decision: the largest message, with headers and encoded parts. Large receivers take 25 MiB. */
  smtp_max_bytes: part(25 * 1024 ** 2, numberFrom(64 * 1024, 150 * 1024 ** 2)),
  captcha_verify_url: part(new URL('https://challenges.cloudflare.com/turnstile/v0/siteverify'), url),
  /** Decision: past it the provider counts as unreachable. */
  captcha_timeout_ms: integer(5_000, { max: 60_000 }),
  dns_servers: setting([], dnsServers),
  /** Hosts and networks that webhooks may go to though they are private, and by plain http. */
  webhook_allow: setting([], hostsAndNetworks),
  /** Contract, Limits: background CSV imports. */
  import_rows_per_minute: integer(500, { max: 10_000_000 }),
  /** Decision: of a project and UTC day, so that nobody has a form mail the world. */
  confirmations_per_day: integer(1_000, { max: 10_000_000 }),
  /** Asked while all is well, for a monitor that misses it; a secret. */
  heartbeat_url: setting(null, address),
  trusted_proxies: setting([], networks),
  log_level: setting('info', oneOf('debug', 'info', 'warn', 'error')),
  log_format: part(null, oneOf('text', 'json')),
};

export type SettingName = keyof typeof SETTINGS;
export type SettingValue<N extends SettingName> = ReturnType<(typeof SETTINGS)[N]['read']>;
type WholeName = {
  [N in SettingName]: (typeof SETTINGS)[N] extends { is_part: true } ? never : N;
}[SettingName];
/** Those that stand for themselves. */
export type WholeSettings = { readonly [N in WholeName]: SettingValue<N> };

export function variableOf(name: string): string {
  return `SATCHEL_${name.toUpperCase()}`;
}

/** The variables of all settings. */
export const VARIABLES: readonly string[] = Object.keys(SETTINGS).map(variableOf);

/* --- What looks like a setting ----------------------------------------------------------------------------------- */

/**
 * Kubernetes sets variables for the Services of a namespace (as Docker did for links). Those of Services whose names begin with
 * `satchel` look like settings, and are none.
 */
const OF_SERVICE =
  /^SATCHEL_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;
/** May be a setting too: the value tells. */
const ADDRESS_OF_SERVICE = /^SATCHEL_(?:[A-Z0-9_]+_)?PORT$/;

type Variables = Readonly<Record<string, string | undefined>>;

/** The names of such variables. */
export function serviceLinksIn(env: Variables): string[] {
  const isAddress = (value = ''): boolean => /^(?:tcp|udp|sctp):\/\//.test(value);
  return Object.keys(env).filter(
    (name) => OF_SERVICE.test(name) || (ADDRESS_OF_SERVICE.test(name) && isAddress(env[name])),
  );
}

export function withoutServiceLinks(env: Variables): Variables {
  const links = serviceLinksIn(env);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !links.includes(name)));
}
