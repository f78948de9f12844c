/**
 * The one origin matcher: which form an origin value is stored in, and whether a rule covers a request or a
 * candidate. Pure functions; the data plane, `key why` and the check of global origins all ask here.
 */
import { isIP, isIPv4 } from 'node:net';
import * as limits from '../../limits.ts';
import { isPublicHost, PRIVATE_TLDS, unbracket } from '../../platform/http/hosts.ts';

export type OriginType = 'domain' | 'android' | 'ios';

export interface OriginRule {
  id: number;
  type: OriginType;
  /** In canonical form. */
  value: string;
  /** Upper-case hex without colons; only android rules have any. */
  sha256_fingerprints: readonly string[];
  sha1_fingerprints: readonly string[];
  note?: string | null;
}

type CanonicalOrigin = { ok: true; value: string } | { ok: false; code: 'INVALID_ORIGIN'; message: string };

type CanonicalFingerprint = { ok: true; value: string } | { ok: false; message: string };

/** The headers that say where a request comes from. Null: not sent; '': sent empty. */
export interface RequestOrigin {
  origin: string | null;
  /** X-App-Id: an android package or an iOS bundle id. */
  app_id: string | null;
  /** X-Android-Package: matches android rules only. */
  android_package: string | null;
  /** X-Android-Cert: SHA-256 or SHA-1, colons optional. */
  cert: string | null;
}

export interface KeyOrigins {
  restricted: boolean;
  allow_no_origin: boolean;
  own: readonly OriginRule[];
  global: readonly OriginRule[];
}

type OriginRefusalCode =
  | 'NO_ORIGINS'
  | 'ORIGIN_REQUIRED'
  | 'ORIGIN_NOT_ALLOWED'
  | 'APP_NOT_ALLOWED'
  | 'CERT_FINGERPRINT_REQUIRED'
  | 'CERT_FINGERPRINT_NOT_ALLOWED';

/** `message` is for the caller and names no rule; `why` is for the admin and does. */
export type OriginDecision =
  | { accepted: true; rule: OriginRule | null; scope: 'own' | 'global' | 'none-needed'; why: string }
  | { accepted: false; code: OriginRefusalCode; message: string; why: string };

export interface OriginCandidate {
  type: OriginType;
  value: string;
  cert_fingerprint?: string | null;
}

/** Contract, `/global-origins/check`: `reason` is there where the value or certificate is refused. */
export interface OriginVerdict {
  type: OriginType;
  value: string;
  canonical_value: string | null;
  covered: boolean;
  matched_by: { id: number; value: string; note: string | null } | null;
  reason?: {
    code: 'INVALID_ORIGIN' | 'CERT_FINGERPRINT_REQUIRED' | 'CERT_FINGERPRINT_NOT_ALLOWED';
    message: string;
  };
}

interface ScopedRule {
  rule: OriginRule;
  scope: 'own' | 'global';
}

const LOCALHOST_ANY_PORT = 'http://localhost:*';
const SUBDOMAINS_OF = 'https://*.';
const EXTENSION_SCHEMES: readonly string[] = ['chrome-extension', 'moz-extension', 'safari-web-extension'];
/** Schemes of pages within hybrid apps, with the tool that makes such apps. */
const APP_SCHEMES: ReadonlyMap<string, string> = new Map([
  ['capacitor', 'Capacitor'],
  ['ionic', 'Ionic'],
  ['tauri', 'Tauri'],
  ['app', 'Electron'],
]);
/** Host names have no underscores by the book, but browsers load such names. */
const HOST_LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/;
const ANDROID_PACKAGE = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+$/i;
const IOS_BUNDLE_ID = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i;
const FINGERPRINTS = {
  sha256: { name: 'SHA-256', bytes: 32, pattern: /^[0-9a-f]{2}(?::?[0-9a-f]{2}){31}$/i },
  sha1: { name: 'SHA-1', bytes: 20, pattern: /^[0-9a-f]{2}(?::?[0-9a-f]{2}){19}$/i },
} as const;

/* --- Canonical forms ------------------------------------------------------------------------------------------- */

/**
 * The form in which a value is stored and compared. A bare host becomes an https origin. A trailing slash and
 * the default port go. Host names become lower-case punycode. App ids keep their case.
 */
export function canonicalizeOrigin(type: OriginType, value: string): CanonicalOrigin {
  if (type === 'domain') return canonicalizeDomain(value);
  const pattern = type === 'android' ? ANDROID_PACKAGE : IOS_BUNDLE_ID;
  if (value.length <= limits.MAX_APP_ID_CHARS && pattern.test(value)) return { ok: true, value };
  return refuse(
    type === 'android'
      ? 'An Android package is a reverse domain such as com.example.app: at least two parts, each starting with a letter, of letters, digits and underscores.'
      : 'An iOS bundle id is a reverse domain such as com.example.app: at least two parts of letters, digits and hyphens.',
  );
}

/** A certificate fingerprint as upper-case hex without colons. */
export function canonicalizeFingerprint(kind: 'sha256' | 'sha1', text: string): CanonicalFingerprint {
  const { name, bytes, pattern } = FINGERPRINTS[kind];
  if (pattern.test(text)) return { ok: true, value: text.replaceAll(':', '').toUpperCase() };
  return { ok: false, message: `A ${name} fingerprint is ${bytes} bytes in hex, with or without colons.` };
}

function refuse(message: string): CanonicalOrigin {
  return { ok: false, code: 'INVALID_ORIGIN', message };
}

function canonicalizeDomain(text: string): CanonicalOrigin {
  if (text.length > limits.MAX_ORIGIN_CHARS) {
    return refuse(`An origin has at most ${limits.MAX_ORIGIN_CHARS} characters.`);
  }
  // Checked before parsing, as a URL parser silently removes some of these and reads a backslash as a slash.
  if (/[\s\p{Cc}\p{Cf}\\%]/u.test(text)) {
    return refuse('An origin has no spaces, control characters, backslashes or percent signs.');
  }
  if (text.toLowerCase() === 'null') {
    return refuse('`null` is what any sandboxed page sends, so it can not be an allowed origin.');
  }
  const [, given_scheme, with_scheme = ''] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(text) ?? [];
  const scheme = given_scheme?.toLowerCase() ?? 'https';
  const [authority = ''] = (given_scheme === undefined ? text : with_scheme).split(/[/?#]/);
  const tail = (given_scheme === undefined ? text : with_scheme).slice(authority.length);
  if (authority === '') return refuse('An origin needs a host, such as https://app.example.com.');
  if (tail !== '' && tail !== '/') {
    return refuse(
      'An origin is a scheme, a host and perhaps a port; leave out the path, query and fragment.',
    );
  }
  if (authority.includes('@')) return refuse('An origin has no user name or password.');
  if (EXTENSION_SCHEMES.includes(scheme)) return canonicalizeExtension(scheme, authority.toLowerCase());
  if (APP_SCHEMES.has(scheme)) return canonicalizeHybridApp(scheme, authority.toLowerCase());
  if (scheme === 'https' || scheme === 'http') return canonicalizeWeb(scheme, authority.toLowerCase());
  const others = [...EXTENSION_SCHEMES, ...APP_SCHEMES.keys()].map((each) => `${each}://`);
  return refuse(`An origin starts with https:// or http://, or with one of ${others.join(', ')}.`);
}

function canonicalizeHybridApp(scheme: string, host: string): CanonicalOrigin {
  const is_of_electron = scheme === 'app' && (host === '-' || host === '.');
  if (is_of_electron || isHostName(host)) return { ok: true, value: `${scheme}://${host}` };
  return refuse(
    `The origin of a ${APP_SCHEMES.get(scheme)} app is ${scheme}:// and an ASCII host name, such as ${scheme}://localhost, without a port or wildcard.`,
  );
}

/** Of a stored value that each app sends that a tool makes: what must be known of it. Null for all others. */
export function remarkOnValue(value: string): string | null {
  const tool = APP_SCHEMES.get(value.slice(0, value.indexOf(':')));
  return tool === undefined
    ? null
    : `Every app that is made with ${tool} may send ${value}: it keeps web pages out, and no such app.`;
}

function canonicalizeExtension(scheme: string, id: string): CanonicalOrigin {
  if (/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(id)) return { ok: true, value: `${scheme}://${id}` };
  return refuse('An extension origin is its scheme and the id of one extension, without a port or wildcard.');
}

function canonicalizeWeb(scheme: 'https' | 'http', authority: string): CanonicalOrigin {
  if (`${scheme}://${authority}` === LOCALHOST_ANY_PORT) return { ok: true, value: LOCALHOST_ANY_PORT };
  const is_wildcard = scheme === 'https' && authority.startsWith('*.');
  const host_and_port = is_wildcard ? authority.slice(2) : authority;
  if (host_and_port.includes('*')) {
    return refuse(
      'A wildcard stands only in *.example.com (https, all subdomains and the domain itself) and in http://localhost:* (any port).',
    );
  }
  if (/\.(?::\d*)?$/.test(host_and_port)) return refuse('Leave out the dot at the end of the host.');
  const address = `${scheme}://${host_and_port}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || url.port === '0') {
    return refuse('The host or the port is not valid; a port is a number from 1 to 65535.');
  }
  const host_problem = findHostProblem(url.hostname, host_and_port);
  if (host_problem !== null) return refuse(host_problem);
  if (scheme === 'http' && isPublicHost(url.hostname)) {
    return refuse(
      `A public host needs https. Plain http may name only localhost, loopback and private addresses, and names that end in ${PRIVATE_TLDS.map((tld) => `.${tld}`).join(', ')}.`,
    );
  }
  if (!is_wildcard) return { ok: true, value: `${scheme}://${url.host}` };
  if (url.port !== '') return refuse('A wildcard for subdomains has no port.');
  if (isIP(unbracket(url.hostname)) !== 0) return refuse('An address has no subdomains.');
  if (!url.hostname.includes('.') && !PRIVATE_TLDS.includes(url.hostname)) {
    return refuse('A wildcard needs a domain of at least two parts, such as *.example.com.');
  }
  return { ok: true, value: `${SUBDOMAINS_OF}${url.hostname}` };
}

/** What is wrong with a parsed host, or null. `given` is the host, and perhaps port, as it was written. */
function findHostProblem(host: string, given: string): string | null {
  if (host.startsWith('[')) return null;
  if (isIPv4(host)) {
    // `127.1` or `0x7f000001` would be read as an address that the admin may not have meant.
    return given.replace(/:\d*$/, '') === host ? null : 'Write an IPv4 address as four decimal numbers.';
  }
  return isHostName(host) ? null : 'The host is not a valid name, such as app.example.com.';
}

function isHostName(host: string): boolean {
  return (
    host.length <= limits.MAX_DNS_NAME_CHARS &&
    host.split('.').every((label) => label.length <= limits.MAX_DNS_LABEL_CHARS && HOST_LABEL.test(label))
  );
}

/* --- Matching -------------------------------------------------------------------------------------------------- */

/**
 * Whether a key accepts a request. An Origin that was sent decides alone; an app id counts only without one.
 * The key's own rules go before the global ones.
 */
export function matchRequest(request: RequestOrigin, key: KeyOrigins): OriginDecision {
  if (!key.restricted) {
    return { accepted: true, rule: null, scope: 'none-needed', why: 'The key is not restricted.' };
  }
  const rules: ScopedRule[] = [
    ...key.own.map((rule) => ({ rule, scope: 'own' as const })),
    ...key.global.map((rule) => ({ rule, scope: 'global' as const })),
  ];
  const names_app = request.app_id !== null || request.android_package !== null;
  if (request.origin === null && !names_app && key.allow_no_origin) {
    const why = 'The key has allow_no_origin, and the request carries neither an Origin nor an app id.';
    return { accepted: true, rule: null, scope: 'none-needed', why };
  }
  if (rules.length === 0) {
    return deny('NO_ORIGINS', 'This key is restricted and has no allowed origins.', {
      why: 'The key is restricted, but it has no rule of its own and there is no global one: it denies every request.',
    });
  }
  if (request.origin !== null) return matchOrigin(request.origin, rules);
  if (names_app) return matchApp(request, rules);
  return deny('ORIGIN_REQUIRED', 'This key is restricted: send an allowed Origin or X-App-Id.', {
    why: 'The request carries neither an Origin nor an app id, and the key does not have allow_no_origin.',
  });
}

/** Whether a rule accepts all that a candidate means: an origin, an app, or what a wildcard names. */
export function checkCandidate(candidate: OriginCandidate, rules: readonly OriginRule[]): OriginVerdict {
  const { type, value } = candidate;
  const canonical = canonicalizeOrigin(type, value);
  const verdict = { type, value, canonical_value: null, covered: false, matched_by: null };
  if (!canonical.ok) {
    return { ...verdict, reason: { code: canonical.code, message: canonical.message } };
  }
  const unmatched = { ...verdict, canonical_value: canonical.value };
  let rule = rules.find((each) => each.type === type && coversValue(each, canonical.value));
  if (rule === undefined) return unmatched;
  if (type !== 'domain') {
    const pinning = rules.filter((each) => each.value === canonical.value && pinsCertificates(each));
    const cert = candidate.cert_fingerprint ?? null;
    const pinned = pinning.find((each) => pinsCertificate(each, cert));
    if (pinning.length > 0 && pinned === undefined) {
      const ids = pinning.map((each) => each.id).join(', ');
      return { ...unmatched, reason: certProblem(cert, `rule ${ids}`) };
    }
    // An Android rule may also bind the iOS app of its id. Then the rule of the candidate's own type is
    // named.
    if (pinned?.type === type) rule = pinned;
  }
  const matched_by = { id: rule.id, value: rule.value, note: rule.note ?? null };
  return { ...unmatched, covered: true, matched_by };
}

function matchOrigin(origin: string, rules: readonly ScopedRule[]): OriginDecision {
  const message = 'This origin is not allowed for this key.';
  if (origin.toLowerCase() === 'null') {
    const why = '`Origin: null` is what any sandboxed page or local file sends; it never matches.';
    return deny('ORIGIN_NOT_ALLOWED', message, { why });
  }
  // A header holds a full origin, never the bare host or wildcard that a rule may have.
  if (!origin.includes('://') || origin.includes('*')) {
    const why = 'The Origin is not a scheme and a host, such as https://app.example.com.';
    return deny('ORIGIN_NOT_ALLOWED', message, { why });
  }
  const canonical = canonicalizeOrigin('domain', origin);
  if (!canonical.ok) {
    return deny('ORIGIN_NOT_ALLOWED', message, {
      why: `No rule can allow this Origin. ${canonical.message}`,
    });
  }
  const found = rules.find(({ rule }) => rule.type === 'domain' && coversValue(rule, canonical.value));
  if (found) {
    const remark = remarkOnValue(canonical.value);
    return accept(found, `The Origin matches ${describeRule(found)}.${remark === null ? '' : ` ${remark}`}`);
  }
  return deny('ORIGIN_NOT_ALLOWED', message, { why: explainMiss(canonical.value, rules) });
}

function matchApp(request: RequestOrigin, rules: readonly ScopedRule[]): OriginDecision {
  const { app_id, android_package, cert } = request;
  const message = 'This app is not allowed for this key.';
  if (app_id !== null && android_package !== null && app_id !== android_package) {
    const why = 'X-App-Id and X-Android-Package name different apps; send one of them.';
    return deny('APP_NOT_ALLOWED', message, { why });
  }
  const id = android_package ?? app_id;
  const of_app = rules.filter(({ rule }) => rule.type !== 'domain' && rule.value === id);
  const [first] = android_package === null ? of_app : of_app.filter(({ rule }) => rule.type === 'android');
  if (first === undefined) {
    const why =
      of_app.length > 0
        ? 'Only an ios rule names this app, and X-Android-Package matches android rules only.'
        : `${noneOf(rules, { one: 'names', infinitive: 'name' })} this app; upper and lower case differ.`;
    return deny('APP_NOT_ALLOWED', message, { why });
  }
  const pinning = of_app.filter(({ rule }) => pinsCertificates(rule));
  if (pinning.length === 0) return accept(first, `The app id matches ${describeRule(first)}.`);
  const pinned = pinning.find(({ rule }) => pinsCertificate(rule, cert));
  if (pinned) return accept(pinned, `The app id and the certificate match ${describeRule(pinned)}.`);
  const problem = certProblem(cert, pinning.map(describeRule).join(' and '));
  const hint =
    problem.code === 'CERT_FINGERPRINT_REQUIRED'
      ? 'This app must send its certificate fingerprint in X-Android-Cert.'
      : 'The certificate fingerprint in X-Android-Cert is not allowed for this key.';
  return deny(problem.code, hint, { why: problem.message });
}

function accept({ rule, scope }: ScopedRule, why: string): OriginDecision {
  return { accepted: true, rule, scope, why };
}

function deny(code: OriginRefusalCode, message: string, { why }: { why: string }): OriginDecision {
  return { accepted: false, code, message, why };
}

/** Whether a rule covers all of a canonical value of its own type. Certificates are looked at elsewhere. */
function coversValue(rule: OriginRule, value: string): boolean {
  if (rule.value === value) return true;
  if (rule.value === LOCALHOST_ANY_PORT) return /^http:\/\/localhost(?::\d+)?$/.test(value);
  if (!rule.value.startsWith(SUBDOMAINS_OF) || !value.startsWith('https://')) return false;
  // The port stays part of the text, so a wildcard matches on port 443 alone.
  const domain = rule.value.slice(SUBDOMAINS_OF.length);
  const host = value.slice('https://'.length);
  return host === domain || host.endsWith(`.${domain}`);
}

function pinsCertificates(rule: OriginRule): boolean {
  return rule.sha256_fingerprints.length > 0 || rule.sha1_fingerprints.length > 0;
}

function pinsCertificate(rule: OriginRule, cert: string | null): boolean {
  if (cert === null) return false;
  const sha256 = canonicalizeFingerprint('sha256', cert);
  if (sha256.ok) return rule.sha256_fingerprints.includes(sha256.value);
  const sha1 = canonicalizeFingerprint('sha1', cert);
  return sha1.ok && rule.sha1_fingerprints.includes(sha1.value);
}

function certProblem(
  cert: string | null,
  pinned_by: string,
): { code: 'CERT_FINGERPRINT_REQUIRED' | 'CERT_FINGERPRINT_NOT_ALLOWED'; message: string } {
  if (cert === null) {
    const message = `Certificates are pinned by ${pinned_by}, and no certificate fingerprint was sent.`;
    return { code: 'CERT_FINGERPRINT_REQUIRED', message };
  }
  const is_fingerprint =
    canonicalizeFingerprint('sha256', cert).ok || canonicalizeFingerprint('sha1', cert).ok;
  const message = is_fingerprint
    ? `The certificate fingerprint is none of those pinned by ${pinned_by}.`
    : `Certificates are pinned by ${pinned_by}, and what was sent is neither a SHA-256 nor a SHA-1 fingerprint.`;
  return { code: 'CERT_FINGERPRINT_NOT_ALLOWED', message };
}

/* --- Explaining ------------------------------------------------------------------------------------------------ */

function describeRule({ rule, scope }: ScopedRule): string {
  return `${scope} rule ${rule.id} (${rule.value})`;
}

/** The beginning of a sentence that says that no rule matches. */
function noneOf(rules: readonly ScopedRule[], verb: { one: string; infinitive: string }): string {
  if (rules.length === 1) return `The only rule, own or global, does not ${verb.infinitive}`;
  return `None of the ${rules.length} rules, own and global, ${verb.one}`;
}

/** Why no rule matches an Origin, with the rule that comes closest. */
function explainMiss(origin: string, rules: readonly ScopedRule[]): string {
  const none = `${noneOf(rules, { one: 'matches', infinitive: 'match' })} this Origin`;
  const { hostname } = new URL(origin);
  const domains = rules.filter(({ rule }) => rule.type === 'domain');
  const same_host = domains.find(({ rule }) => hostOf(rule).host === hostname);
  if (same_host) {
    return `${none}: ${describeRule(same_host)} has the same host, but another scheme or port.`;
  }
  const parent = domains.find(({ rule }) => hostname.endsWith(`.${hostOf(rule).host}`));
  if (!parent) return `${none}.`;
  if (hostOf(parent.rule).is_wildcard) {
    return `${none}: ${describeRule(parent)} covers subdomains, but only over https on the default port.`;
  }
  const wildcard = { ...parent.rule, value: `${SUBDOMAINS_OF}${hostOf(parent.rule).host}` };
  const advice = coversValue(wildcard, origin) ? `; ${wildcard.value} would` : '';
  return `${none}: ${describeRule(parent)} covers no subdomains${advice}.`;
}

function hostOf(rule: OriginRule): { host: string; is_wildcard: boolean } {
  const [, wildcard, host = ''] = /^[a-z-]+:\/\/(\*\.)?(.*?)(?::(?:\d+|\*))?$/.exec(rule.value) ?? [];
  return { host, is_wildcard: wildcard !== undefined };
}

/** As much of what was sent as an answer repeats, in characters. */
const MAX_NAMED_CHARS = 200;
/** Safe in JSON, HTML and a shell's double quotes. All else is written as in a URL. */
const HARMLESS = /[^\w:/.@[\]*~,+-]/g;

/** The matcher's message, with the request's origin and who can see more. No rule is named here. */
export function describeRefusal(message: string, { origin, app_id, android_package }: RequestOrigin): string {
  const sent = origin ?? app_id ?? android_package;
  const from = sent === null ? '' : ` It came from ${name(sent)}.`;
  return `${message}${from} Who manages the key sees why with:`;
}

function name(sent: string): string {
  const cut = sent.slice(0, MAX_NAMED_CHARS).replace(HARMLESS, percent);
  return `"${cut}${sent.length > MAX_NAMED_CHARS ? '...' : ''}"`;
}

function percent(char: string): string {
  return [...Buffer.from(char)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}
