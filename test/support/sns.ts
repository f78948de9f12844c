/** Amazon's SNS as far as it signs: a certificate of RSA made by openssl, and envelopes that Amazon's own validator takes. */
import { sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from './temp.ts';

export const SNS_HOST = 'sns.eu-west-1.amazonaws.com';
export const CERTIFICATE_URL = `https://${SNS_HOST}/SimpleNotificationService-1.pem`;
export const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:satchel';

function openssl(...args: string[]): void {
  const made = Bun.spawnSync(['openssl', ...args], { stderr: 'pipe' });
  if (!made.success) throw new Error(made.stderr.toString());
}

export interface Certificate {
  cert: string;
  key: string;
}

/** Self-signed, for a name. */
export function makeRsaCertificate(name: string): Certificate {
  const dir = makeTempDir();
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const of = ['-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '30'];
  openssl('req', '-x509', ...of, '-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`);
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}

/** One for a name, which an authority of its own has signed. */
export function makeAuthority(name: string): { ca: string } & Certificate {
  const dir = makeTempDir();
  const at = (file: string): string => join(dir, file);
  const of_ca = [
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
    '-days',
    '30',
  ];
  openssl('req', '-x509', ...of_ca, '-subj', '/CN=An authority of tests');
  openssl(
    ...[
      'req',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      at('key'),
      '-out',
      at('csr'),
      '-subj',
      `/CN=${name}`,
    ],
  );
  writeFileSync(at('ext'), `subjectAltName=DNS:${name}\n`);
  openssl(
    ...['x509', '-req', '-in', at('csr'), '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'],
    ...['-out', at('cert'), '-days', '30', '-extfile', at('ext')],
  );
  const read = (file: string): string => readFileSync(at(file), 'utf8');
  return { ca: read('ca.pem'), cert: read('cert'), key: read('key') };
}

const SIGNED = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: [
    'Message',
    'MessageId',
    'SubscribeURL',
    'Timestamp',
    'Token',
    'TopicArn',
    'Type',
  ],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
};

export type EnvelopeType = keyof typeof SIGNED;

/** An envelope as SNS sends it, with these fields in place of its own. */
export function envelope(
  key: string,
  type: EnvelopeType,
  fields: Record<string, string> = {},
): Record<string, string> {
  const token = fields.Token ?? '0123456789abcdef';
  const of_confirmation = {
    Token: token,
    SubscribeURL: `https://${SNS_HOST}/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=${token}`,
  };
  const made: Record<string, string> = {
    Type: type,
    MessageId: crypto.randomUUID(),
    TopicArn: TOPIC,
    Message: 'Successfully validated SNS topic for Amazon SES event publishing.',
    Timestamp: '2026-11-28T12:00:00.000Z',
    SignatureVersion: '1',
    SigningCertURL: CERTIFICATE_URL,
    ...(type === 'Notification' ? {} : of_confirmation),
    ...fields,
  };
  const text = SIGNED[type]
    .map((name) => (made[name] === undefined ? '' : `${name}\n${made[name]}\n`))
    .join('');
  const digest = made.SignatureVersion === '2' ? 'sha256' : 'sha1';
  return { ...made, Signature: sign(digest, Buffer.from(text), key).toString('base64') };
}
