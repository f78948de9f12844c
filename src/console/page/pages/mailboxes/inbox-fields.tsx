/** The inbox of a mailbox in parts, filled in by its provider where that is a known one; and what was entered of it. */
import { useState } from 'preact/hooks';
import type { InboxParts } from '../../api.generated.ts';
import { SelectField } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { Advanced } from '../../components/page.tsx';
import { SecretField } from '../../components/secret-field.tsx';
import { TextField } from '../../components/text-field.tsx';

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
  is_tls: boolean;
  is_stored: boolean;
}

const BLANK: InboxShown = { host: '', user: '', port: '', folder: FOLDER, is_tls: true, is_stored: false };

/** Of `imaps://user:***@host:993/folder`, as the API shows an inbox. */
function readInbox(address: string | null | undefined): InboxShown {
  if (!address || !URL.canParse(address)) return BLANK;
  const url = new URL(address);
  return {
    host: url.hostname,
    user: decodeURIComponent(url.username),
    port: url.port,
    folder: decodeURIComponent(url.pathname.slice(1)) || FOLDER,
    is_tls: url.protocol === 'imaps:',
    is_stored: true,
  };
}

export function InboxFields({ inbox }: { inbox: string | null | undefined }) {
  const begin = readInbox(inbox);
  const [host, setHost] = useState(begin.host);
  const is_usual = begin.is_tls && ['', '993'].includes(begin.port) && begin.folder === FOLDER;
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
      <TextField
        key={host}
        name="inbox.host"
        label="IMAP host"
        value={host}
        placeholder="imap.example.com"
        is_mono
      />
      <TextField name="inbox.user" label="IMAP user" value={begin.user} is_mono />
      <SecretField
        name="inbox.password"
        label="IMAP password"
        placeholder={begin.is_stored ? 'stored; left empty, it stays' : ''}
        hint="Many providers want a password made for this: an app password."
      />
      <Advanced title="Port and folder" is_set={!is_usual}>
        <TextField
          name="inbox.port"
          label="IMAP port"
          type="number"
          value={begin.port}
          placeholder={begin.is_tls ? '993' : '143'}
        />
        <SelectField
          name="inbox.tls"
          label="IMAP encryption"
          value={begin.is_tls ? 'tls' : 'starttls'}
          choices={[
            ['tls', 'TLS from the first byte'],
            ['starttls', 'STARTTLS, or nothing is read'],
          ]}
        />
        <TextField name="inbox.folder" label="Folder" value={begin.folder} is_mono />
      </Advanced>
    </fieldset>
  );
}

/** What was entered, where it is another than what is there: null takes the inbox away, undefined leaves it. */
export function inboxIn(entered: Entered, inbox: string | null | undefined): InboxParts | null | undefined {
  const before = readInbox(inbox);
  const [host, user] = [entered.text('inbox.host'), entered.text('inbox.user')];
  if (host === '') return before.is_stored ? null : undefined;
  const password = entered.exact('inbox.password').replace(/\n$/, '');
  const port = entered.text('inbox.port');
  const folder = entered.text('inbox.folder') || FOLDER;
  const tls = entered.text('inbox.tls') === 'tls';
  const is_same =
    host === before.host &&
    user === before.user &&
    port === before.port &&
    folder === before.folder &&
    tls === before.is_tls;
  if (before.is_stored && is_same && password === '') return undefined;
  return {
    host,
    user,
    folder,
    tls,
    ...(port !== '' && { port: Number(port) }),
    ...(password !== '' && { password }),
  };
}
