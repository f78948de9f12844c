/** The only reader of the environment: settings and flags become one frozen Config, or an error. */
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { domainToASCII } from 'node:url';
import { messageOf } from './errors.ts';
import { STORE_MAX_PARTS, STORE_PART_BYTES } from './limits.ts';
import {
  bad,
  type Given,
  listed,
  SETTINGS,
  type SettingName,
  type SettingValue,
  VARIABLES,
  variableOf,
  type WholeSettings,
  withoutServiceLinks,
} from './settings.ts';
import { readS3Place, type S3Settings } from './store-place.ts';

export type LogLevel = WholeSettings['log_level'];

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

/** Where apps hand mail in by SMTP. */
export interface SmtpSettings {
  readonly host: string;
  /** Where a connection begins in the clear; null is nowhere. */
  readonly port: number | null;
  /** Where it begins with TLS; null is nowhere. */
  readonly tls_port: number | null;
  /** The certificate where `serve --tls` sees to none. */
  readonly certificate: { readonly cert_file: string; readonly key_file: string } | null;
  /** Whom a password is taken from without TLS, besides this machine: addresses and networks. */
  readonly plain_from: readonly string[];
}

/** Signing in by OpenID Connect. */
export interface OidcSettings {
  /** Its address as it was given. */
  readonly issuer: string;
  readonly client_id: string;
  readonly client_secret: string;
  /** What stands on the button. */
  readonly label: string;
  /** Domains whose people come in without an invitation. */
  readonly invites: readonly string[];
  /** Whether it is to be the only way in. */
  readonly only: boolean;
}

export interface Config extends WholeSettings {
  readonly data_dir: string;
  /** Where the server keeps its backups; null is in the data directory. */
  readonly backup_dir: string | null;
  readonly host: string;
  readonly port: number;
  /** How HTTPS is served; null where a proxy does that, or nobody. */
  readonly tls: TlsSettings | null;
  /** Without a trailing slash. */
  readonly public_url: string;
  /** Null is without single sign-on. */
  readonly oidc: OidcSettings | null;
  /** Where the bytes of new objects go; null is the data directory. */
  readonly object_store: S3Settings | null;
  /** Downloads of more bytes than this are redirected to the store; null is none. */
  readonly object_redirect_bytes: number | null;
  readonly email_retry_delays_s: readonly [number, number];
  /** Where mail is taken by SMTP; null is nowhere. */
  readonly smtp: SmtpSettings | null;
  /** The largest message that apps hand in whole, by SMTP or by the APIs of others. */
  readonly max_message_bytes: number;
  readonly captcha_verify_url: string;
  readonly log_format: 'text' | 'json';
  /** For a verb: where the server listens whose settings these are; null where none runs, and in a server. */
  readonly served_at: string | null;
}

const TLS_FLAGS = ['acme_directory', 'acme_email', 'tls_http_port'] as const;

/** Flags of the command line; a flag wins over its variable. */
export type ConfigFlags = {
  [N in 'data_dir' | 'host' | 'port' | 'public_url' | 'tls' | (typeof TLS_FLAGS)[number]]?:
    | string
    | undefined;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings as they are read, one by one. */
interface Source {
  read<N extends SettingName>(name: N): SettingValue<N>;
  /** A complaint names what the value came from. */
  given(name: SettingName): Given;
}

/**
 * Reads and checks the settings. Empty variables count as unset. Throws AppError `invalid` with the first
 * setting or flag that makes no sense, or an unknown SATCHEL_ variable.
 */
export function loadConfig(given_env: Environment, flags: ConfigFlags = {}, is_terminal = false): Config {
  const env = withoutServiceLinks(given_env);
  refuseUnknown(env);
  const by_flag: { readonly [N in SettingName]?: string | undefined } = flags;
  const given = (name: SettingName): Given => {
    const flag = by_flag[name];
    if (flag !== undefined) return { text: flag, name: `--${name.replaceAll('_', '-')}` };
    return { text: env[variableOf(name)]?.trim() || null, name: variableOf(name) };
  };
  const readers: { readonly [N in SettingName]: { read(given: Given): SettingValue<N> } } = SETTINGS;
  const read: Source['read'] = (name) => readers[name].read(given(name));
  const source: Source = { given, read };
  const tls = readTls(source);
  const host = read('host') ?? (tls ? allAddresses() : '127.0.0.1');
  const port = read('port') ?? (tls ? 443 : 8420);
  if (tls && port !== 0 && port === tls.http_port)
    throw bad('--tls-http-port (SATCHEL_TLS_HTTP_PORT)', 'must be another port than that of https');
  const sources = (['master_key', 'master_key_file', 'passphrase'] as const).filter(read).map(variableOf);
  if (sources.length > 1) throw bad(sources.join(' and '), 'exclude each other: set only one of them');
  const data_dir = resolve(read('data_dir'));
  const redirect_mib = read('object_redirect');
  const whole = Object.entries(SETTINGS).flatMap(([name, setting]) =>
    'is_part' in setting ? [] : [[name, setting.read(given(name as SettingName))]],
  );
  return Object.freeze({
    ...(Object.fromEntries(whole) as WholeSettings),
    data_dir,
    backup_dir: readBackupDir(given('backup_dir'), data_dir),
    host,
    port,
    tls,
    public_url: readPublicUrl(source, port, tls),
    passphrase: env.SATCHEL_PASSPHRASE || null,
    oidc: readOidc(source),
    object_store: readObjectStore(source),
    object_redirect_bytes: redirect_mib === null ? null : redirect_mib * 1024 ** 2,
    email_retry_delays_s: read('email_retry_delays'),
    smtp: readSmtp(source, port, tls),
    max_message_bytes: read('smtp_max_bytes'),
    captcha_verify_url: read('captcha_verify_url').href,
    log_format: read('log_format') ?? (is_terminal ? 'text' : 'json'),
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
  const unknown = Object.keys(env).find((name) => name.startsWith('SATCHEL_') && !VARIABLES.includes(name));
  if (unknown) throw bad(unknown, `is not a setting of Satchel; the settings are ${VARIABLES.join(', ')}`);
}

/** What Let's Encrypt takes into one certificate. */
const MAX_TLS_NAMES = 100;

/** RFC 1123, with a dot: no public authority vouches for a name without one. */
const NAME = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** The names of a comma-separated list; or what is wrong with it, to go behind the setting's name. */
function readTlsNames(entries: readonly string[]): readonly string[] | string {
  const names = [...new Set(entries.map((entry) => domainToASCII(entry)))];
  if (entries.some((entry) => entry.startsWith('*')))
    return 'must name each host: a certificate for *.example.com can only be had through the DNS';
  if (names.length === 0 || names.some((name) => !NAME.test(name)))
    return 'must be a comma-separated list of host names, such as example.com,www.example.com';
  if (names.length > MAX_TLS_NAMES) return `must name at most ${MAX_TLS_NAMES} hosts`;
  return names;
}

/** Every address of this machine: a listener on `::` takes IPv4 as well, where there is IPv6 at all. */
function allAddresses(): string {
  const families = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return families.some(({ family }) => family === 'IPv6') ? '::' : '0.0.0.0';
}

function readTls({ read, given }: Source): TlsSettings | null {
  const { text, name } = given('tls');
  if (text === null) {
    const others = TLS_FLAGS.map(given);
    const alone = others.find((other) => other.text && other.name.startsWith('--'));
    if (alone) throw bad(alone.name, 'goes with --tls');
    return null;
  }
  const names = readTlsNames(listed(text));
  if (typeof names === 'string') throw bad(name, names);
  const { href, protocol } = read('acme_directory');
  if (protocol !== 'https:')
    throw bad(given('acme_directory').name, "must be the https address of an authority's directory");
  const acme_email = read('acme_email');
  // An authority is told `mailto:` and this, and takes neither a second address nor a header field.
  if (acme_email !== null && !/^[^\s@,?]+@[^\s@,?]+$/.test(acme_email))
    throw bad(given('acme_email').name, 'must be one email address, such as admin@example.com');
  return { names, acme_directory: href, acme_email, http_port: read('tls_http_port') };
}

function readPublicUrl({ read, given }: Source, port: number, tls: TlsSettings | null): string {
  const url = read('public_url');
  if (url === null)
    return tls ? `https://${tls.names[0]}${port === 443 ? '' : `:${port}`}` : `http://localhost:${port}`;
  const { name } = given('public_url');
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

function readObjectStore({ read, given }: Source): S3Settings | null {
  const text = read('object_store');
  if (text === null) return null;
  const place = readS3Place(text);
  if (typeof place === 'string') throw bad('SATCHEL_OBJECT_STORE', place);
  const most = STORE_PART_BYTES * STORE_MAX_PARTS;
  if (Number(given('max_upload_bytes').text) > most)
    throw bad('SATCHEL_MAX_UPLOAD_BYTES', `must be at most ${most} with SATCHEL_OBJECT_STORE`);
  const secret = (name: 's3_access_key_id' | 's3_secret_access_key'): string =>
    readSecret(variableOf(name), 'SATCHEL_OBJECT_STORE', [read(name), read(`${name}_file`)]);
  return {
    ...place,
    access_key_id: secret('s3_access_key_id'),
    secret_access_key: secret('s3_secret_access_key'),
  };
}

const OIDC_PARTS = [
  ['oidc_issuer'],
  ['oidc_client_id'],
  ['oidc_client_secret', 'oidc_client_secret_file'],
] as const;
const OIDC_EXTRAS = ['oidc_label', 'oidc_invites', 'oidc_only'] as const;

function readOidc({ read, given }: Source): OidcSettings | null {
  const isGiven = (name: SettingName): boolean => given(name).text !== null;
  const missing = OIDC_PARTS.filter((names) => !names.some(isGiven)).map(([name]) => variableOf(name));
  const issuer = read('oidc_issuer');
  if (missing.length === OIDC_PARTS.length) {
    const alone = OIDC_EXTRAS.find(isGiven);
    if (alone) throw bad(variableOf(alone), `goes with ${missing.join(', ')}`);
    return null;
  }
  if (missing.length > 0 || issuer === null)
    throw bad(
      missing.join(' and '),
      'must be set too: SATCHEL_OIDC_ISSUER, SATCHEL_OIDC_CLIENT_ID and SATCHEL_OIDC_CLIENT_SECRET (or ..._FILE) go together',
    );
  if (issuer.search || issuer.hash || issuer.username || issuer.password)
    throw bad('SATCHEL_OIDC_ISSUER', 'must have no user, query or fragment');
  return {
    issuer: issuer.href,
    client_id: read('oidc_client_id') ?? '',
    client_secret: readSecret('SATCHEL_OIDC_CLIENT_SECRET', 'SATCHEL_OIDC_ISSUER', [
      read('oidc_client_secret'),
      read('oidc_client_secret_file'),
    ]),
    label: read('oidc_label'),
    invites: read('oidc_invites'),
    only: read('oidc_only') === 'true',
  };
}

/** `goes_with`: the setting that it is needed for. */
function readSecret(
  name: string,
  goes_with: string,
  [value, file]: readonly [value: string | null, file: string | null],
): string {
  if (value !== null && file !== null)
    throw bad(`${name} and ${name}_FILE`, 'exclude each other: set only one');
  if (value === null && file === null)
    throw bad(name, `must be set where ${goes_with} is, or ${name}_FILE to a file that holds it`);
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

const SMTP_SETTINGS = ['smtp_host', 'smtp_tls_cert', 'smtp_tls_key', 'smtp_plain_from'] as const;

/** Where mail is taken by SMTP; null where nothing listens. */
function readSmtp({ read, given }: Source, http_port: number, tls: TlsSettings | null): SmtpSettings | null {
  const [host, plain_from] = [read('smtp_host'), read('smtp_plain_from')];
  const [port, tls_port] = [read('smtp_port'), read('smtps_port')];
  if (port === null && tls_port === null) {
    const alone = SMTP_SETTINGS.find((name) => given(name).text !== null);
    if (alone) throw bad(variableOf(alone), 'goes with SATCHEL_SMTP_PORT or SATCHEL_SMTPS_PORT');
    return null;
  }
  // 0 has the system choose one.
  const ports = [http_port, tls?.http_port, port, tls_port].filter(Boolean);
  if (new Set(ports).size < ports.length)
    throw bad('SATCHEL_SMTP_PORT and SATCHEL_SMTPS_PORT', 'must each be a port that nothing else here uses');
  const [cert_file, key_file] = [read('smtp_tls_cert'), read('smtp_tls_key')];
  if ((cert_file === null) !== (key_file === null))
    throw bad('SATCHEL_SMTP_TLS_CERT and SATCHEL_SMTP_TLS_KEY', 'go together: set both, or neither');
  if (tls_port !== null && cert_file === null && !tls)
    throw bad(
      'SATCHEL_SMTPS_PORT',
      'needs a certificate: SATCHEL_TLS (serve --tls), or SATCHEL_SMTP_TLS_CERT and SATCHEL_SMTP_TLS_KEY',
    );
  const certificate = cert_file === null || key_file === null ? null : { cert_file, key_file };
  return { host, port, tls_port, certificate, plain_from };
}
