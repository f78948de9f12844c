/**
 * The folder `tls` of the data directory, its owner's alone, keeps the certificates. No backup holds it:
 * whoever has a backup could then pose as the server, and all of it can be ordered again.
 */
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { AppError, errorCodeOf, messageOf } from '../../errors.ts';
import { makeFolder, syncFolder } from '../../platform/host/folders.ts';
import { giveFolder, openOwn } from '../../platform/host/ownership.ts';
import type { TlsIdentity } from '../../platform/http/listener.ts';
import { isPlainObject } from '../../platform/http/schema.ts';

/** A certificate with its key, as read from it. */
export interface Certificate extends TlsIdentity {
  /** The directory of the authority that gave it. */
  readonly acme_directory: string;
  /** Those that were ordered. */
  readonly names: readonly string[];
  readonly from_ms: number;
  readonly to_ms: number;
}

/** The last order, where it failed; or one under way, which counts as failed until it is done. */
export interface FailedOrder {
  readonly acme_directory: string;
  readonly names: readonly string[];
  /** In a row. */
  readonly failures: number;
  readonly at_ms: number;
  readonly next_ms: number;
  readonly reason: string;
}

const CERTIFICATE_FILE = 'certificate.json';
const ACCOUNT_KEY_FILE = 'account-key.pem';
const ORDER_FILE = 'failed-order.json';

export function folderOf(data_dir: string): string {
  return join(data_dir, 'tls');
}

export function orderFileOf(data_dir: string): string {
  return join(folderOf(data_dir), ORDER_FILE);
}

/** Reads what an authority gave for a key and names. Throws AppError `invalid` for anything else. */
export function readCertificate(given: Omit<Certificate, 'from_ms' | 'to_ms'>): Certificate {
  try {
    const certificate = new X509Certificate(given.chain);
    if (!certificate.checkPrivateKey(createPrivateKey(given.private_key)))
      throw new Error('it is of another key');
    const missing = given.names.find((name) => certificate.checkHost(name) === undefined);
    if (missing !== undefined) throw new Error(`it is not for ${missing}`);
    const [from_ms, to_ms] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
    return { ...given, from_ms, to_ms };
  } catch (error) {
    throw new AppError('invalid', `The certificate can't be used: ${messageOf(error)}.`, { cause: error });
  }
}

/** The certificate that is kept, or null. Throws AppError `invalid` for a file that holds something else. */
export function loadCertificate(data_dir: string): Certificate | null {
  const told = loadJson(join(folderOf(data_dir), CERTIFICATE_FILE));
  if (told === null) return null;
  const { acme_directory, names, private_key, chain } = told;
  return readCertificate({
    acme_directory: String(acme_directory),
    names: Array.isArray(names) ? names.map(String) : [],
    private_key: String(private_key),
    chain: String(chain),
  });
}

/** Key and chain in one file, so that they are replaced in one step. It is on disk on return. */
export function keepCertificate(data_dir: string, certificate: Certificate): void {
  const { from_ms: _, to_ms: __, ...kept } = certificate;
  replaceFile(data_dir, CERTIFICATE_FILE, `${JSON.stringify(kept, null, 2)}\n`);
}

/** The key that the authority knows this installation by; null before the first order. */
export function loadAccountKey(data_dir: string): string | null {
  return loadText(join(folderOf(data_dir), ACCOUNT_KEY_FILE));
}

/** A new one, on disk; in PEM. */
export function makeAccountKey(data_dir: string): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const account_key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  replaceFile(data_dir, ACCOUNT_KEY_FILE, account_key);
  return account_key;
}

export function loadFailedOrder(data_dir: string): FailedOrder | null {
  const told = loadJson(orderFileOf(data_dir));
  if (told === null) return null;
  const { acme_directory, names, failures, at_ms, next_ms, reason } = told;
  const numbers = [failures, at_ms, next_ms].map(Number);
  const [count = 0, at = 0, next = 0] = numbers;
  if (!numbers.every(Number.isSafeInteger) || !Array.isArray(names)) return null;
  return {
    acme_directory: String(acme_directory),
    names: names.map(String),
    failures: count,
    at_ms: at,
    next_ms: next,
    reason: String(reason),
  };
}

export function keepFailedOrder(data_dir: string, order: FailedOrder): void {
  replaceFile(data_dir, ORDER_FILE, `${JSON.stringify(order, null, 2)}\n`);
}

export function forgetFailedOrder(data_dir: string): void {
  rmSync(orderFileOf(data_dir), { force: true });
}

function replaceFile(data_dir: string, name: string, content: string): void {
  const folder = folderOf(data_dir);
  if (!existsSync(folder)) {
    makeFolder(folder);
    giveFolder(folder);
  }
  const path = join(folder, name);
  const fd = openOwn(`${path}.new`);
  try {
    ftruncateSync(fd);
    writeSync(fd, content);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(`${path}.new`, path);
  syncFolder(folder);
}

function loadText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

function loadJson(path: string): Record<string, unknown> | null {
  const text = loadText(path);
  if (text === null) return null;
  try {
    const told: unknown = JSON.parse(text);
    if (isPlainObject(told)) return told;
  } catch {
    // Told of below.
  }
  throw new AppError('invalid', `${path} is damaged.`);
}
