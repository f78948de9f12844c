/**
 * `./install.sh --try`: starts dist/satchel on 127.0.0.1 with the checkout's ./data, sees to it that there are a
 * project, a key and a capturing mailbox, and prints commands that use them, and a link to the console for the first person.
 * Nothing outside the checkout changes.
 */
import { existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '..');
const SATCHEL = join(ROOT, 'dist/satchel');
const DATA = join(ROOT, 'data');
const LOG = join(ROOT, 'dist/try.log');
const START_TIMEOUT_MS = 20_000;

const PORT = process.env.SATCHEL_PORT || '8420';
const ADDRESS = `http://127.0.0.1:${PORT}`;

const PROJECT = 'try';
const KEY = 'try';
const DOMAIN = 'try.satchel.test';
const MAILBOX = `hello@${DOMAIN}`;

/** An expected failure: its message is all that the reader needs. */
class Refusal extends Error {}

function say(line = ''): void {
  process.stdout.write(`${line}\n`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Runs a command of Satchel on ./data and returns the JSON it prints. */
function satchel(...args: string[]): unknown {
  const command = [SATCHEL, ...args, '--json', '--data-dir', DATA];
  const result = Bun.spawnSync(command, { cwd: ROOT, stdin: 'ignore', stderr: 'pipe' });
  const output = result.stdout.toString();
  if (!result.success) {
    throw new Refusal(`satchel ${args.join(' ')} failed:\n${result.stderr.toString() || output}`);
  }
  return JSON.parse(output);
}

/** The records of a list command, whether they come bare or in an envelope. */
function listOf(answer: unknown): Record<string, unknown>[] {
  const list = isRecord(answer) ? answer.data : answer;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function textOf(answer: unknown, field: string): string {
  const record = isRecord(answer) && isRecord(answer.data) ? answer.data : answer;
  const value = isRecord(record) ? record[field] : undefined;
  if (typeof value !== 'string' && typeof value !== 'number')
    throw new Refusal(`satchel printed no ${field}.`);
  return String(value);
}

/** Is a Satchel answering there? Throws where something else does. */
async function isAnswering(): Promise<boolean> {
  const response = await fetch(`${ADDRESS}/api/health`).catch(() => null);
  if (response === null) return false;
  const health: unknown = await response.json().catch(() => null);
  if (isRecord(health) && health.app === 'satchel') return true;
  throw new Refusal(
    `${ADDRESS} is in use by something that is not Satchel.\nChoose another port: SATCHEL_PORT=8421 ./install.sh --try`,
  );
}

/** Starts the server so that it outlives this script, and waits until it says that it is listening. */
async function startServer(): Promise<void> {
  const log = openSync(LOG, 'w', 0o600);
  const command = [SATCHEL, 'serve', '--data-dir', DATA, '--host', '127.0.0.1', '--port', PORT];
  const server = Bun.spawn([...command, '--public-url', ADDRESS], {
    cwd: ROOT,
    stdin: 'ignore',
    stdout: log,
    stderr: log,
    // A session of its own: closing the terminal does not stop it.
    detached: true,
  });
  server.unref();
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!readFileSync(LOG, 'utf8').includes('satchel listening on')) {
    if (server.exitCode !== null || server.signalCode !== null || performance.now() > deadline) {
      server.kill();
      throw new Refusal(`The server did not start:\n${readFileSync(LOG, 'utf8')}`);
    }
    await Bun.sleep(50);
  }
}

/** Makes what is missing and returns the key's secret. */
function prepare(): string {
  const has = (list: unknown, field: string, value: string): boolean =>
    listOf(list).some((record) => record[field] === value);
  if (!has(satchel('project', 'list'), 'slug', PROJECT)) {
    satchel('project', 'create', '--name', 'Try', '--slug', PROJECT);
  }
  if (!has(satchel('domain', 'list'), 'name', DOMAIN))
    satchel('domain', 'add', DOMAIN, '--trust', '--default');
  if (!has(satchel('mailbox', 'list'), 'address', MAILBOX)) satchel('mailbox', 'add', MAILBOX, '--capture');
  const key = listOf(satchel('key', 'list', '--project', PROJECT)).find(
    (record) => record.name === KEY && record.is_active === true,
  );
  if (key !== undefined) return textOf(satchel('key', 'reveal', textOf(key, 'id')), 'plaintext_key');
  const created = satchel('key', 'create', '--project', PROJECT, '--name', KEY, '--can', 'read,write,email');
  return textOf(created, 'plaintext_key');
}

/** Commands to paste, one after the other or all at once, into any shell in any folder. */
function showCommands(key: string): void {
  const quoted = (path: string): string => `'${path.replaceAll("'", String.raw`'\''`)}'`;
  const field = (name: string): string => String.raw`sed 's/.*"${name}":"\([^"]*\)".*/\1/'`;
  say(`KEY='${key}'
API='${ADDRESS}/api/v1'

# Upload a file, then fetch it from the url in the answer.
FILE=$(curl -sS "$API/objects" -H "X-API-Key: $KEY" -F visibility=public \\
  -F 'file=Hello from Satchel;filename=hello.txt;type=text/plain'); echo "$FILE"
curl -sS "$(echo "$FILE" | ${field('url')})"; echo

# Send an email, and ask for its job until that is done. The mailbox keeps what is sent: nothing leaves this machine.
MAIL=$(curl -sS "$API/emails/send" -H "X-API-Key: $KEY" -H 'Content-Type: application/json' \\
  -d '{"to":"ada@example.com","subject":"Hello","body_text":"Sent by Satchel."}'); echo "$MAIL"
JOB=$(echo "$MAIL" | ${field('status_url')})
for second in 1 2 3 4 5 6 7 8 9 10; do
  curl -sS "$JOB" -H "X-API-Key: $KEY" | grep -E '"status":"(completed|failed)"' && break; sleep 1
done
${quoted(SATCHEL)} email captured --data-dir ${quoted(DATA)}`);
}

/** Where to sign in; while nobody can, a new link for the first person, which voids the one before. */
function showConsole(): void {
  if (listOf(satchel('person', 'list')).length > 0) {
    say(`Its console:      ${ADDRESS}/console`);
    return;
  }
  const link = textOf(satchel('person', 'add', '--first'), 'link');
  say(`Its console:      ${link}\n                  (for the first person, once and within 24 hours)`);
}

/** The server there is another folder's, or another installation's. */
function refuseOther(): never {
  throw new Refusal(
    `The Satchel at ${ADDRESS} does not serve ${DATA}.\nStop it, or choose another port: SATCHEL_PORT=8421 ./install.sh --try`,
  );
}

async function main(): Promise<void> {
  const was_running = await isAnswering();
  if (!was_running) await startServer();
  // Without a database here, whoever answers there does so from another one.
  if (!existsSync(join(DATA, 'satchel.db'))) refuseOther();
  const key = prepare();
  const probe = await fetch(`${ADDRESS}/api/v1/objects`, { headers: { 'X-API-Key': key } });
  if (!probe.ok) refuseOther();
  say(
    `Satchel ${was_running ? 'was running already' : 'is running'} at ${ADDRESS} and keeps its data in ${DATA}`,
  );
  say();
  showCommands(key);
  say();
  say(`Stop the server:  kill ${readFileSync(join(DATA, 'server.pid'), 'utf8').trim()}`);
  say(`Its log:          ${LOG}`);
  showConsole();
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
