/** Programs of others that hand mail in, each as its users have it: what the log and the receiver have of it, and who can verify it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dkimVerify } from 'mailauth/lib/dkim/verify';
import { encodeWord } from 'nodemailer/lib/mime-funcs';
import PostalMime from 'postal-mime';
import { startDnsServer } from '../../support/dns-server.ts';
import { part } from '../../support/parts.ts';
import { SERVER_CERTIFICATES, TEST_CA_PEM } from '../../support/smtp-certificates.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { makeTempDir } from '../../support/temp.ts';
import { until } from '../../support/until.ts';
import { addDomain, rows, type Sender } from '../emails/setup.ts';
import { handIn, portOf, type RawClient, signedIn, startTaking } from './setup.ts';

const DOMAIN = 'shop.example.com';
const FROM = `hello@${DOMAIN}`;
const TEXT = 'Grüße\n.\n..zwei Punkte  \n\nEnde €';
const FILE = Buffer.from(Array.from({ length: 5_000 }, (_, n) => n % 256));
const dir = makeTempDir();
const at = (name: string): string => join(dir, name);

let on: Sender;
let sink: SmtpSink;
let client: RawClient;

beforeAll(async () => {
  writeFileSync(at('cert.pem'), SERVER_CERTIFICATES.localhost.cert);
  writeFileSync(at('key.pem'), SERVER_CERTIFICATES.localhost.key);
  writeFileSync(at('ca.pem'), TEST_CA_PEM);
  writeFileSync(at('ä.bin'), FILE);
  on = await startTaking({
    env: { SATCHEL_SMTP_TLS_CERT: at('cert.pem'), SATCHEL_SMTP_TLS_KEY: at('key.pem') },
  });
  sink = await startSmtpSink();
  await addDomain(on.app, DOMAIN, sink, { is_default: true });
  client = await signedIn(portOf(on), on.key);
});
afterAll(async () => {
  client.close();
  await sink.stop();
});

/** Runs a program to its end; what it printed. Fails the test where it fails. */
async function run(command: (string | null)[], { env = {}, stdin = '' } = {}): Promise<string> {
  const child = Bun.spawn(
    command.map((word) => word ?? ''),
    {
      ...{ cwd: dir, stdin: Buffer.from(stdin), stdout: 'pipe', stderr: 'pipe' },
      env: { PATH: process.env.PATH, SSL_CERT_FILE: at('ca.pem'), ...env },
    },
  );
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect([await child.exited, stderr]).toEqual([0, '']);
  return stdout;
}

interface App {
  name: string;
  /** The program that it needs. */
  program: string | null;
  send(subject: string): Promise<unknown>;
}

const script = (name: string): string => join(import.meta.dir, 'apps', name);
const ofScript = (name: string, program: string | null, command: string[]): App => ({
  ...{ name, program },
  send: (SUBJECT) =>
    run(command, {
      env: { SUBJECT, TEXT, FILE: at('ä.bin'), PORT: String(portOf(on)), KEY: on.key },
    }),
});

const APPS: App[] = [
  ofScript('smtplib of Python', Bun.which('python3'), ['python3', script('smtplib.app.py')]),
  // Debian's package is one of Debian's Python.
  ofScript('Django', part('django-admin'), ['/usr/bin/python3', script('django.app.py')]),
  ofScript('Symfony and Laravel', part('php'), ['php', script('symfony.app.php')]),
  ofScript('PHPMailer, as WordPress has it', part('php'), ['php', script('phpmailer.app.php')]),
  {
    name: 'swaks',
    program: part('swaks'),
    send: (subject) =>
      run([
        ...[
          'swaks',
          '--silent',
          '2',
          '--server',
          'localhost',
          '--port',
          String(portOf(on)),
          '--auth',
          'LOGIN',
        ],
        ...[
          '--auth-user',
          'satchel',
          '--auth-password',
          on.key,
          '--tls',
          '--tls-verify',
          '--tls-ca-path',
          at('ca.pem'),
        ],
        ...['--from', FROM, '--to', 'ada@example.org', '--header', `Subject: ${encodeWord(subject, 'B')}`],
        ...['--header', `From: ${encodeWord('Shöp', 'Q')} <${FROM}>`],
        ...['--attach-type', 'text/plain; charset=utf-8', '--attach-body', TEXT],
        ...[
          '--attach-type',
          'application/octet-stream',
          '--attach-name',
          'ä.bin',
          '--attach',
          `@${at('ä.bin')}`,
        ],
      ]),
  },
  {
    name: 'msmtp, as cron and sendmail have it',
    program: part('msmtp'),
    send: (subject) => {
      const settings = {
        ...{
          account: 'default',
          host: 'localhost',
          port: portOf(on),
          from: FROM,
          user: 'satchel',
          password: on.key,
        },
        ...{ auth: 'on', tls: 'on', tls_trust_file: at('ca.pem') },
      };
      const lines = Object.entries(settings).map((pair) => pair.join(' '));
      writeFileSync(at('msmtprc'), lines.join('\n'), { mode: 0o600 });
      const type = (of: string, more = '') => `Content-Type: ${of}\n${more}\n`;
      const message = [
        `From: ${encodeWord('Shöp', 'Q')} <${FROM}>\nTo: ada@example.org\nBcc: eve@example.org`,
        `Subject: ${encodeWord(subject, 'Q')}\nMIME-Version: 1.0\n${type('multipart/mixed; boundary=b')}`,
        `--b\n${type('text/plain; charset=utf-8', 'Content-Transfer-Encoding: 8bit\n')}${TEXT}\n--b`,
        `${type('application/octet-stream; name="=?utf-8?Q?=C3=A4?=.bin"', 'Content-Transfer-Encoding: base64\n')}${FILE.toString('base64').replace(/.{76}/g, '$&\n')}\n--b--\n`,
      ].join('\n');
      return run(['msmtp', '-C', at('msmtprc'), 'ada@example.org'], { stdin: message });
    },
  },
];

describe('a mail with an umlaut and a file comes to its receiver, signed, and to the log', () => {
  for (const { name, program, send } of APPS)
    test.skipIf(program === null)(`by ${name}`, async () => {
      sink.mails.splice(0);
      const subject = `Grüße von ${name}`;
      await send(subject);
      const [mail] = await sink.waitForMails(1);
      const raw = mail?.raw ?? Buffer.alloc(0);
      expect(mail?.envelope.to).toEqual(['ada@example.org']);
      expect(await mailauth(raw)).toBe('pass');
      const { from, text, attachments, ...read } = await PostalMime.parse(raw);
      expect([read.subject, from]).toEqual([subject, { name: 'Shöp', address: FROM }]);
      expect(text?.replaceAll('\r\n', '\n').trimEnd()).toBe(TEXT);
      expect(attachments.map(({ filename }) => filename)).toEqual(['ä.bin']);
      expect(Buffer.from(attachments[0]?.content as ArrayBuffer).equals(FILE)).toBe(true);
      await on.settle();
      expect(
        rows(on.app, `SELECT status, source, from_name, to_email FROM emails WHERE subject = '${subject}'`),
      ).toEqual([{ status: 'sent', source: 'smtp', from_name: 'Shöp', to_email: 'ada@example.org' }]);
    });
});

const gitea = part('gitea');
test.skipIf(gitea === null)(
  'a real Gitea: who registers gets the mail by which they confirm their address',
  async () => {
    sink.mails.splice(0);
    const home = makeTempDir();
    const unix = join(home, 'http');
    const settings = `I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
RUN_MODE = prod
[server]
PROTOCOL = http+unix
HTTP_ADDR = ${unix}
ROOT_URL = http://git.example.com/
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
[security]
INSTALL_LOCK = true
[service]
REGISTER_EMAIL_CONFIRM = true
[mailer]
ENABLED = true
PROTOCOL = smtp+starttls
SMTP_ADDR = localhost
SMTP_PORT = ${portOf(on)}
FROM = ${FROM}
USER = satchel
PASSWD = ${on.key}
`;
    writeFileSync(join(home, 'app.ini'), settings);
    const env = { PATH: process.env.PATH, HOME: home, GITEA_WORK_DIR: home, SSL_CERT_FILE: at('ca.pem') };
    const child = Bun.spawn([gitea ?? '', 'web', '-c', join(home, 'app.ini')], {
      ...{ env, stdout: 'ignore', stderr: 'ignore' },
    });
    try {
      const url = 'http://git.example.com';
      await until(async () => (await fetch(`${url}/api/healthz`, { unix }).catch(() => null))?.ok === true);
      const register = (name: string) => {
        const password = 'correct horse battery';
        const fields = { user_name: name, email: `${name}@example.org`, password, retype: password };
        const body = new URLSearchParams(fields);
        return fetch(`${url}/user/sign_up`, { method: 'POST', body, redirect: 'manual', unix });
      };
      // The first one is its administrator, who need not confirm anything.
      for (const name of ['owner', 'ada']) await register(name);
      const [mail] = await sink.waitForMails(1);
      expect(mail?.envelope.to).toEqual(['ada@example.org']);
      expect(await mailauth(mail?.raw ?? Buffer.alloc(0))).toBe('pass');
      const { from, html } = await PostalMime.parse(mail?.raw ?? '');
      expect(from?.address).toBe(FROM);
      expect(html).toContain(`${url}/user/activate?code=`);
    } finally {
      child.kill();
      await child.exited;
    }
  },
);

/** What an independent library says of the signature of a message. */
async function mailauth(raw: Buffer): Promise<string | undefined> {
  const resolver = async () => [[dkimRecord().value]];
  const { results } = await dkimVerify(raw, { resolver });
  expect(results).toHaveLength(1);
  return results[0]?.status?.result;
}

function dkimRecord(): { name: string; value: string } {
  const { records } = on.app.services.sending_domains.show(DOMAIN);
  const record = records.find(({ name }) => name.includes('._domainkey.'));
  if (!record) throw new Error('the domain has no DKIM record');
  return record;
}

/** Hands a message in over the open connection, and returns what the receiver got under our signature. */
async function sendWhole(message: Buffer): Promise<{ raw: Buffer; body_type: string }> {
  sink.mails.splice(0);
  const stuffed = message.toString('latin1').replace(/^\./gm, '..');
  expect(await handIn(client, Buffer.from(stuffed, 'latin1'))).toStartWith('250 ');
  const [mail] = await sink.waitForMails(1);
  const { raw = Buffer.alloc(0), body_type = '' } = mail ?? {};
  expect(raw.toString('latin1', 0, raw.length - message.length)).toMatch(
    /^DKIM-Signature:(?:[^\r]|\r\n[ \t])*\r\n$/,
  );
  expect(raw.subarray(raw.length - message.length).equals(message)).toBe(true);
  return { raw, body_type };
}

/** A message with the fields that are made where they are missing. */
function messageOf(fields: string[], body: string): Buffer {
  const all = [`From: ${FROM}`, 'To: ada@example.org', 'Subject: Hello', ...STAMP, ...fields];
  return Buffer.from(`${all.join('\r\n')}\r\n\r\n${body}`, 'latin1');
}
const STAMP = ['Date: Fri, 27 Nov 2026 10:00:00 +0000', 'Message-ID: <1@client.example>'];

test('an invitation and pictures within the text arrive byte for byte, 8-bit lines announced as such', async () => {
  const part_of = (type: string, more: string[], body: string) =>
    [`Content-Type: ${type}`, ...more, '', body].join('\r\n');
  const parts = (kind: string, boundary: string, of: string[]) =>
    part_of(
      `${kind}; boundary="${boundary}"`,
      [],
      `--${boundary}\r\n${of.join(`\r\n--${boundary}\r\n`)}\r\n--${boundary}--\r\n`,
    );
  const base64 = FILE.toString('base64').replace(/.{60}/g, '$&\r\n');
  const text = part_of(
    'text/plain; charset=utf-8',
    ['Content-Transfer-Encoding: 8bit'],
    'Gr\xc3\xbc\xc3\x9fe  \r\n\r\n.',
  );
  const html = part_of('text/html', [], '<img src="cid:1@x"><img src=\'cid:2@x\'>');
  const picture = (id: string) =>
    part_of(
      'image/png; name=p.png',
      ['Content-Transfer-Encoding: base64', `Content-ID: <${id}>`, 'Content-Disposition: inline'],
      base64,
    );
  const invitation = part_of(
    'text/calendar; method=REQUEST; charset=utf-8',
    [],
    'BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Tee\r\n  und Kuchen\r\nEND:VEVENT\r\nEND:VCALENDAR',
  );
  const related = parts('multipart/related', 'r', [html, picture('1@x'), picture('2@x')]);
  const whole = parts('multipart/alternative', 'a', [text, related, invitation]);
  const [type = '', ...body] = whole.split('\r\n\r\n');
  const { body_type } = await sendWhole(messageOf(['MIME-Version: 1.0', type], body.join('\r\n\r\n')));
  expect(body_type).toBe('8bitmime');
});

test.skipIf(part('openssl') === null)(
  'an S/MIME signature that was made beforehand verifies at the receiver',
  async () => {
    const key = [
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-keyout',
      at('smime.key'),
    ];
    const usage = ['-addext', 'extendedKeyUsage=emailProtection', '-addext', 'keyUsage=digitalSignature'];
    Bun.spawnSync([
      'openssl',
      'req',
      '-x509',
      ...key,
      '-out',
      at('smime.pem'),
      '-subj',
      `/CN=${FROM}`,
      ...usage,
    ]);
    const head = ['-from', FROM, '-to', 'ada@example.org', '-subject', 'Signed'];
    const pair = ['-signer', at('smime.pem'), '-inkey', at('smime.key')];
    const signed = await run(['openssl', 'smime', '-sign', '-text', '-crlfeol', ...head, ...pair], {
      stdin: '.Dots\r\nand  \r\n\r\n',
    });
    const message = Buffer.from(`${STAMP.join('\r\n')}\r\n${signed.replace(/\r?\n/g, '\r\n')}`);
    const { raw } = await sendWhole(message);
    writeFileSync(at('signed.eml'), raw);
    const verify = ['openssl', 'smime', '-verify', '-in', at('signed.eml'), '-CAfile', at('smime.pem')];
    const { exitCode, stdout, stderr } = Bun.spawnSync(verify);
    expect([exitCode, stdout.toString(), stderr.toString()]).toEqual([
      0,
      expect.stringContaining('.Dots\r\nand'),
      expect.stringContaining('successful'),
    ]);
  },
);

test.skipIf(part('gpg') === null)(
  'an OpenPGP signature that was made beforehand verifies at the receiver',
  async () => {
    const gpg = ['gpg', '--homedir', makeTempDir(), '--batch', '--no-tty', '--passphrase', ''];
    try {
      Bun.spawnSync([...gpg, '--quick-gen-key', FROM, 'ed25519', 'sign', 'never']);
      const text =
        'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n.Gr=C3=BC=C3=9Fe\r\n\r\n- --\r\n';
      const { stdout } = Bun.spawnSync([...gpg, '--armor', '--detach-sign'], { stdin: Buffer.from(text) });
      const armor = stdout.toString().replace(/\r?\n/g, '\r\n');
      expect(armor).toStartWith('-----BEGIN PGP SIGNATURE-----');
      const type = 'multipart/signed; boundary="s"; micalg=pgp-sha512; protocol="application/pgp-signature"';
      const body = `--s\r\n${text}\r\n--s\r\nContent-Type: application/pgp-signature\r\n\r\n${armor}\r\n--s--\r\n`;
      const { raw } = await sendWhole(messageOf(['MIME-Version: 1.0', `Content-Type: ${type}`], body));
      const [, signed = '', signature = ''] =
        /\r\n--s\r\n([\s\S]*)\r\n--s\r\n[\s\S]*?\r\n\r\n([\s\S]*)\r\n--s--/.exec(raw.toString('latin1')) ??
        [];
      writeFileSync(at('signed.asc'), signature);
      const { exitCode } = Bun.spawnSync([...gpg, '--verify', at('signed.asc'), '-'], {
        stdin: Buffer.from(signed, 'latin1'),
      });
      expect(exitCode).toBe(0);
    } finally {
      Bun.spawnSync(['gpgconf', '--homedir', gpg[2] ?? '', '--kill', 'all']);
    }
  },
);

describe('the DKIM signature of what is awkward to sign', () => {
  const files: string[] = [];
  beforeAll(async () => {
    const awkward = [
      messageOf(
        ['X-Odd:   kept  as\r\n\t it is ', 'List-ID: <x>', 'list-id: <y>'],
        '  \r\n.\r\n..\r\n\r\n\r\n',
      ),
      messageOf(['Content-Type: text/plain; charset=utf-8'], 'Gr\xfc\xdfe \xff\xfe \t end \t\r\n'),
      messageOf([], ''),
      messageOf(
        ['Reply-To:\r\n ada@example.org,\r\n bob@example.org'],
        'x'.repeat(998).concat('\r\n').repeat(1_200),
      ),
    ];
    for (const [n, message] of awkward.entries()) {
      files.push(at(`awkward${n}.eml`));
      writeFileSync(at(`awkward${n}.eml`), (await sendWhole(message)).raw);
    }
  });

  test('is valid for mailauth', async () => {
    for (const file of files)
      expect(await mailauth(Buffer.from(await Bun.file(file).arrayBuffer()))).toBe('pass');
  });

  test.skipIf(part('dkimverify') === null)('is valid for dkimpy', async () => {
    const env = { RECORD: dkimRecord().value };
    const said = await run(['/usr/bin/python3', script('verify.app.py'), ...files], { env });
    expect(said).toBe('pass\n'.repeat(files.length));
  });

  test.skipIf(part('dkimproxy-verify') === null)('is valid for Mail::DKIM', async () => {
    const { name, value } = dkimRecord();
    const dns = await startDnsServer({ [name]: { txt: [value] } });
    const env = { DNS_PORT: dns.address.replace(/.*:/, '') };
    const said = await run(['perl', script('verify.app.pl'), ...files], { env });
    await dns.stop();
    expect(said).toBe('pass\n'.repeat(files.length));
  });
});
