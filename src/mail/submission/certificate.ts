/** The certificate of the SMTP server where the settings name its files: read, and judged before it is used. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { AppError, messageOf } from '../../errors.ts';
import type { TlsPair } from './protocol.ts';

/** The pair in these files. Throws AppError `invalid` that names the setting where they can't be read or are no pair. */
export function readPair({ cert_file, key_file }: { cert_file: string; key_file: string }): TlsPair {
  const pair = {
    cert: readSetting('SATCHEL_SMTP_TLS_CERT', cert_file),
    key: readSetting('SATCHEL_SMTP_TLS_KEY', key_file),
  };
  try {
    createSecureContext(pair);
    new X509Certificate(pair.cert);
    return pair;
  } catch (cause) {
    throw new AppError(
      'invalid',
      `SATCHEL_SMTP_TLS_CERT and SATCHEL_SMTP_TLS_KEY are no certificate with its key, in PEM: ${messageOf(cause)}.`,
      { cause },
    );
  }
}

function readSetting(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new AppError('invalid', `${name} names a file that can't be read: ${messageOf(cause)}.`, { cause });
  }
}

/** For which name it is, and until when. */
export function describeCertificate({ cert }: Pick<TlsPair, 'cert'>): { name: string | null; to_ms: number } {
  const certificate = new X509Certificate(cert);
  const names = [...(certificate.subjectAltName ?? '').matchAll(/DNS:([^,\s]+)/g)].map(
    ([, name]) => name ?? '',
  );
  const name = names.find((one) => !one.startsWith('*')) ?? null;
  return { name, to_ms: Date.parse(certificate.validTo) };
}
