/** The inbox of a mailbox in parts, filled in by its provider where that is a known one; and what was entered of it. */
import { useState } from 'preact/hooks';
import type { InboxParts } from '../../api.generated.ts';
import { choice, Fields, SelectField, secret, text } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { Advanced } from '../../components/page.tsx';

/** Hosts as the providers' own pages have them; each takes IMAP over TLS on port 993. */
const PROVIDERS = [
  ['', 'Another one'],
  ['imap.fastmail.com', 'Fastmail'],
  ['imap.gmail.com', 'Gmail, Google Workspace'],
  ['imap.mail.me.com', 'iCloud Mail'],
  ['imap.mailbox.org', 'mailbox.org'],
  ['imap.migadu.com', 'Migadu'],
  ['imap.zoho.com', 'Zoho Mail'],
] as const;

const FOLDER = 'INBOX';

interface InboxShown {
  host: string;
  user: string;
  port: string;
  folder: string;
  tls: 'tls' | 'starttls';
  is_stored: boolean;
}

const BLANK: InboxShown = { host: '', user: '', port: '', folder: FOLDER, tls: 'tls', is_stored: false };

/** Of `imaps://user:***@host:993/folder`, as the API shows an inbox. */
function readInbox(address: string | null | undefined): InboxShown {
  if (!address || !URL.canParse(address)) return BLANK;
  const url = new URL(address);
  return {
    host: url.hostname,
    user: decodeURIComponent(url.username),
    port: url.port,
    folder: decodeURIComponent(url.pathname.slice(1)) || FOLDER,
    tls: url.protocol === 'imaps:' ? 'tls' : 'starttls',
    is_stored: true,
  };
}

const HOST = { host: text('IMAP host', { placeholder: 'imap.example.com', is_mono: true }) };
const logIn = ({ is_stored }: InboxShown) => ({
  user: text('IMAP user', { is_mono: true }),
  password: secret('IMAP password', {
    placeholder: is_stored ? 'stored; left empty, it stays' : '',
    hint: 'Many providers want a password made for this: an app password.',
  }),
});
const fine = ({ tls }: InboxShown) => ({
  port: text('IMAP port', { type: 'number', placeholder: tls === 'tls' ? '993' : '143' }),
  tls: choice('IMAP encryption', {
    tls: 'TLS from the first byte',
    starttls: 'STARTTLS, or nothing is read',
  }),
  folder: text('Folder', { is_mono: true }),
});

export function InboxFields({ inbox }: { inbox: string | null | undefined }) {
  const begin = readInbox(inbox);
  const [host, setHost] = useState(begin.host);
  const is_usual = begin.tls === 'tls' && ['', '993'].includes(begin.port) && begin.folder === FOLDER;
  return (
    <fieldset class="group">
      <legend>Inbox</legend>
      <p class="muted">
        Where bounces and complaints arrive: it is read, and each report is put to the mail that it is about.
        With the host empty, none is.
      </p>
      <SelectField
        name="inbox.provider"
        label="Provider of the inbox"
        choices={PROVIDERS}
        value={PROVIDERS.find(([each]) => each === begin.host)?.[0] ?? ''}
        onChange={setHost}
      />
      <Fields key={host} fields={HOST} of={{ host }} prefix="inbox." />
      <Fields fields={logIn(begin)} of={begin} prefix="inbox." />
      <Advanced title="Port and folder" is_set={!is_usual}>
        <Fields fields={fine(begin)} of={begin} prefix="inbox." />
      </Advanced>
    </fieldset>
  );
}

/** Reads what was entered, where it is another than what is there: null takes the inbox away, undefined leaves it. */
export function inboxIn(entered: Entered, inbox: string | null | undefined): InboxParts | null | undefined {
  const before = readInbox(inbox);
  const { host, user, port, tls, password, ...rest } = entered.read(
    { ...HOST, ...logIn(before), ...fine(before) },
    'inbox.',
  );
  if (host === '') return before.is_stored ? null : undefined;
  const folder = rest.folder || FOLDER;
  const is_same =
    host === before.host &&
    user === before.user &&
    port === before.port &&
    folder === before.folder &&
    tls === before.tls;
  if (before.is_stored && is_same && password === null) return undefined;
  return {
    host,
    user,
    folder,
    tls: tls === 'tls',
    ...(port !== '' && { port: Number(port) }),
    ...(password !== null && { password }),
  };
}
