/** The fields of a mailbox, for adding one and for changing it, and what was entered in them. */

import { useState } from 'preact/hooks';
import type { MailboxChanges, MailboxDetails, NewMailbox } from '../../api.generated.ts';
import { CheckField } from '../../components/check-field.tsx';
import type { FieldProps } from '../../components/field.tsx';
import type { Entered } from '../../components/form.tsx';
import { SecretField } from '../../components/secret-field.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { person } from '../../session.ts';
import { newRelayIn, RelayFields, relayIn } from './relay-fields.tsx';

type Purpose = MailboxDetails['for'][number];

const PURPOSES: Readonly<Record<Purpose, readonly [label: string, hint: string]>> = {
  transactional: ['Transactional mail', 'What somebody waits for: receipts, links to reset a password.'],
  marketing: ['Marketing', 'What sequences send to the contacts of lists.'],
};

const OUTLETS = [
  ['relay', 'Sent through a relay'],
  ['url', 'Sent through a relay, given as a URL'],
  ['capture', 'Captured: kept here, sent to nobody'],
] as const;

/** Whether it was decided or follows from the inbox is not told: it is left alone unless another choice is made. */
const AS_IT_IS = 'as-it-is';

const VERP = [
  ['', 'Where there is an inbox'],
  ['on', 'Yes'],
  ['off', 'No'],
] as const;

const KEEP = 'Leave it as it is, *** and all, to keep its password.';

function hasPassword(address: string | null | undefined): boolean {
  return address?.includes(':***@') ?? false;
}

/** A URL with a password in it: what is stored has none to hide, what is typed has. */
function UrlField({ stored, ...field }: FieldProps & { stored: string; placeholder: string }) {
  const [typed, setTyped] = useState(stored);
  return <SecretField {...field} value={stored} is_shown={typed === stored} onInput={setTyped} />;
}

export function MailboxFields({ of }: { of?: MailboxDetails }) {
  const [outlet, setOutlet] = useState(of?.kind === 'capture' ? 'capture' : 'relay');
  return (
    <>
      <SelectField
        name="outlet"
        label="What becomes of its mail"
        choices={OUTLETS}
        value={outlet}
        onChange={setOutlet}
      />
      {outlet === 'relay' && <RelayFields relay={of?.relay} />}
      {outlet === 'url' && (
        <UrlField
          name="relay"
          label="Relay"
          stored={of?.relay ?? ''}
          placeholder="smtps://user:password@smtp.example.com:465"
          hint={`${hasPassword(of?.relay) ? KEEP : 'Special characters in the password are percent-encoded.'} ?tls=required demands TLS of smtp://, ?dkim=off leaves the signature to the relay.`}
        />
      )}
      <fieldset class="field">
        <legend class="field-label">What goes out from it</legend>
        <div class="checks">
          {Object.entries(PURPOSES).map(([purpose, [label, hint]]) => (
            <CheckField
              key={purpose}
              name="for"
              value={purpose}
              label={label}
              hint={hint}
              is_checked={of ? of.for.some((each) => each === purpose) : purpose === 'transactional'}
            />
          ))}
        </div>
      </fieldset>
      <TextField
        name="daily_limit"
        label="Mails a day"
        type="number"
        value={of?.daily_limit}
        hint="What your relay allows. Days are UTC; past it, another mailbox sends. Empty: no limit."
      />
      <TextField
        name="rate"
        label="Rate"
        value={of?.rate}
        placeholder="14/s"
        hint="At most so many mails in any second, minute or hour, as your relay allows: 14/s, 200/m or 1000/h. Empty: as fast as it takes them."
        is_mono
      />
      <ReturnFields of={of} />
      {outlet !== 'capture' && (
        <TextField
          name="test_to"
          label="Send a test to"
          type="email"
          placeholder={person.value?.email ?? 'you@example.org'}
          hint="Once it is saved: one message, and what the relay answers to it. Empty: none."
          is_mono
        />
      )}
    </>
  );
}

/** Where answers of mail servers go, and how they are told apart. */
function ReturnFields({ of }: { of: MailboxDetails | undefined }) {
  return (
    <>
      <TextField
        name="return_path"
        label="Return path"
        type="email"
        value={of?.return_path}
        placeholder="bounces@mail.example.com"
        hint="Where bounces go. Empty: to the address itself."
        is_mono
      />
      <UrlField
        name="inbox"
        label="Inbox"
        stored={of?.inbox?.address ?? ''}
        placeholder="imaps://user:password@imap.example.com/INBOX"
        hint={`Where bounces and complaints arrive: it is read, and each report is put to the mail that it is about. ${hasPassword(of?.inbox?.address) ? KEEP : 'Empty: none is read.'}`}
      />
      <SelectField
        name="verp"
        label="A return path of its own for each mail (VERP)"
        choices={of ? [[AS_IT_IS, `As it is: ${of.verp ? 'yes' : 'no'}`], ...VERP] : VERP}
        hint="Tells for sure which mail a bounce is about. The server behind the return path must take name+anything@."
      />
    </>
  );
}

/** What was entered of a new one: what is empty is left to the API. */
export function readNew(entered: Entered): NewMailbox {
  const daily_limit = entered.numberOrNull('daily_limit');
  const [return_path, inbox] = [entered.text('return_path'), entered.text('inbox')];
  const rate = entered.text('rate');
  const verp = entered.text('verp');
  return {
    address: entered.text('address'),
    ...outletIn(entered),
    for: purposesIn(entered),
    ...(daily_limit !== null && { daily_limit }),
    ...(rate !== '' && { rate }),
    ...(return_path !== '' && { return_path }),
    ...(inbox !== '' && { inbox }),
    ...(verp !== '' && { verp: verp === 'on' }),
  };
}

function outletIn(entered: Entered): Pick<NewMailbox, 'capture' | 'relay'> {
  const outlet = entered.text('outlet');
  if (outlet === 'capture') return { capture: true };
  return { relay: outlet === 'url' ? entered.text('relay') : newRelayIn(entered) };
}

/** What was entered to change one. Addresses whose passwords are masked are sent only where they are others. */
export function readChanges(entered: Entered, of: MailboxDetails): MailboxChanges {
  const outlet = entered.text('outlet');
  const relay =
    outlet === 'url' ? entered.text('relay') : outlet === 'relay' ? relayIn(entered, of.relay) : null;
  const inbox = entered.text('inbox');
  const verp = entered.text('verp');
  return {
    ...(outlet === 'capture' && of.kind !== 'capture' && { capture: true }),
    ...(relay !== null && relay !== of.relay && { relay }),
    ...(inbox !== (of.inbox?.address ?? '') && { inbox: inbox || null }),
    for: purposesIn(entered),
    daily_limit: entered.numberOrNull('daily_limit'),
    rate: entered.textOrNull('rate'),
    return_path: entered.textOrNull('return_path'),
    ...(verp !== AS_IT_IS && { verp: verp === '' ? null : verp === 'on' }),
  };
}

function purposesIn(entered: Entered): Purpose[] {
  const ticked = entered.all('for');
  return (['transactional', 'marketing'] as const).filter((purpose) => ticked.includes(purpose));
}
