/** A real IMAP server for tests: Dovecot on loopback, with mail that is put into its Maildirs as a mail server would. */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { part } from './parts.ts';
import { SERVER_CERTIFICATES } from './smtp-certificates.ts';
import { until } from './until.ts';

export const DOVECOT = part('dovecot');
const PASSWORD = 'p:w';
/** Whose mail it is: Dovecot gives root none. On Debian `mail` has these numbers. */
const OWNER = userInfo().uid === 0 ? { uid: 8, gid: 8 } : { uid: userInfo().uid, gid: userInfo().gid };

export interface Dovecot {
  port: number;
  tls_port: number;
  /** `user:password` as an inbox's address has it. */
  log_in(user: string): string;
  /** Puts a message into a user's inbox, as a file that the server may read unless told otherwise; line ends are LF. */
  deliver(user: string, message: string, mode?: number): void;
  /** The flags of every message, by UID. */
  flagsOf(user: string): Promise<Map<number, string[]>>;
  /** Gives the inbox other UIDs, as a restored one has. Nobody may be reading it. */
  renumber(user: string): void;
  stop(): Promise<void>;
}

/** Ports of this machine that were free a moment ago. */
function freePorts(): [number, number] {
  const listeners = [0, 0].map((port) => Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }));
  const [first = 0, second = 0] = listeners.map((listener) => listener.port);
  for (const listener of listeners) listener.stop(true);
  return [first, second];
}

export async function startDovecot(): Promise<Dovecot> {
  // Its log-in runs as another user than root, who has to get there.
  const dir = mkdtempSync(join(tmpdir(), 'satchel-dovecot-'));
  chmodSync(dir, 0o755);
  const [port, tls_port] = freePorts();
  const path = (name: string): string => join(dir, name);
  for (const name of ['run', 'state', 'mail']) mkdirSync(path(name));
  chownSync(path('mail'), OWNER.uid, OWNER.gid);
  writeFileSync(path('cert.pem'), SERVER_CERTIFICATES.localhost.cert);
  writeFileSync(path('key.pem'), SERVER_CERTIFICATES.localhost.key);
  writeFileSync(path('dovecot.conf'), configOf(dir, { port, tls_port }));
  const child = Bun.spawn([DOVECOT ?? 'dovecot', '-F', '-c', path('dovecot.conf')], {
    stdout: 'ignore',
    stderr: 'ignore',
  });
  const client = (user: string): ImapFlow => {
    const auth = { user, pass: PASSWORD };
    return new ImapFlow({ host: '127.0.0.1', port, secure: false, doSTARTTLS: false, auth, logger: false });
  };
  await until(async () => {
    const probe = client('probe');
    probe.on('error', () => {});
    const is_up = await probe.connect().then(
      () => true,
      () => false,
    );
    probe.close();
    return is_up;
  });
  let delivered = 0;
  return {
    port,
    tls_port,
    log_in: (user) => `${user}:${encodeURIComponent(PASSWORD)}`,
    deliver(user, message, mode = 0o600) {
      const maildir = path(`mail/${user}`);
      for (const folder of ['', 'tmp', 'new', 'cur']) {
        mkdirSync(join(maildir, folder), { recursive: true });
        chownSync(join(maildir, folder), OWNER.uid, OWNER.gid);
      }
      delivered += 1;
      const name = `${delivered}.M${delivered}.test`;
      writeFileSync(join(maildir, 'tmp', name), message, 'latin1');
      chmodSync(join(maildir, 'tmp', name), mode);
      chownSync(join(maildir, 'tmp', name), OWNER.uid, OWNER.gid);
      renameSync(join(maildir, 'tmp', name), join(maildir, 'new', name));
    },
    async flagsOf(user) {
      const reader = client(user);
      await reader.connect();
      await reader.mailboxOpen('INBOX', { readOnly: true });
      const messages = await reader.fetchAll('1:*', { uid: true, flags: true }, { uid: true });
      await reader.logout();
      return new Map(
        messages.map(({ uid, flags }) => [uid, [...(flags ?? [])].filter((flag) => flag !== '\\Recent')]),
      );
    },
    renumber(user) {
      const maildir = path(`mail/${user}`);
      for (const name of readdirSync(maildir)) if (name.startsWith('dovecot')) rmSync(join(maildir, name));
      const uid_validity = Math.floor(Date.now() / 1000) + 60;
      writeFileSync(join(maildir, 'dovecot-uidlist'), `3 V${uid_validity} N1\n`);
      chownSync(join(maildir, 'dovecot-uidlist'), OWNER.uid, OWNER.gid);
    },
    async stop() {
      child.kill('SIGTERM');
      await child.exited;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function configOf(dir: string, { port, tls_port }: { port: number; tls_port: number }): string {
  const { username, uid, gid } = userInfo();
  const own = `default_internal_user = ${username}\ndefault_login_user = ${username}\ndefault_internal_group = ${gid}`;
  const users = uid === 0 ? 'default_login_user = dovenull' : own;
  const unjailed = (service: string, more = ''): string => `service ${service} {\n  chroot =\n${more}}\n`;
  // After a log-in that failed, every further one from the same address would wait for seconds.
  const unpunished = '  unix_listener anvil-auth-penalty {\n    mode = 0\n  }\n';
  return `protocols = imap
listen = 127.0.0.1, 127.0.0.2
base_dir = ${dir}/run
state_dir = ${dir}/state
log_path = ${dir}/log
${users}
first_valid_uid = 0
ssl = yes
ssl_cert = <${dir}/cert.pem
ssl_key = <${dir}/key.pem
disable_plaintext_auth = no
mail_location = maildir:${dir}/mail/%u
mail_max_userip_connections = 50
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=${OWNER.uid} gid=${OWNER.gid} home=${dir}/mail/%u
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = ${tls_port}
  }
}
${unjailed('anvil', unpunished)}${unjailed('stats')}`;
}
