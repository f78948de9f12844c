/** The fields of a mailbox, for adding one and for changing it, and what was entered in them. */
import { useState } from 'preact/hooks';
import type { MailboxChanges, MailboxDetails, NewMailbox } from '../../api.generated.ts';
import { checks, Fields, number, optional, SelectField } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { OptionsField } from '../../components/options-field.tsx';
import { Advanced } from '../../components/page.tsx';
import { SecretField } from '../../components/secret-field.tsx';
import { InboxFields, inboxIn } from './inbox-fields.tsx';
import { newRelayIn, RelayFields, relayIn } from './relay-fields.tsx';

type Purpose = MailboxDetails['for'][number];

const OUTLETS = [
  {
    value: 'relay',
    label: 'Sent through a relay',
    says: 'A provider, or a mail server of yours, delivers it.',
  },
  { value: 'capture', label: 'Kept here', says: 'To look at: it is sent to nobody.' },
  {
    value: 'url',
    label: 'Sent through a relay that a URL names',
    says: 'Where host, user and password do not say all.',
  },
] as const;
export type OutletName = (typeof OUTLETS)[number]['value'];

/** The API does not tell a decision from what follows from the inbox: it is left alone unless another choice is made. */
const AS_IT_IS = 'as-it-is';

const VERP = [
  ['', 'Where there is an inbox'],
  ['on', 'Yes'],
  ['off', 'No'],
] as const;

const KEEP = 'Leave it as it is, *** and all, to keep its password.';

const CAPS = {
  daily_limit: number('Mails a day', {
    hint: 'What your relay allows. Days are UTC; past it, another mailbox sends. Empty: no limit.',
  }),
  rate: optional('Rate', {
    placeholder: '14/s',
    hint: 'At most so many mails in any second, minute or hour: 14/s, 200/m or 1000/h. Empty: as fast as the relay takes them.',
    is_mono: true,
  }),
};
const RETURN_PATH = {
  return_path: optional('Return path', {
    type: 'email',
    placeholder: 'bounces@mail.example.com',
    hint: 'Where bounces go. Empty: to the address itself.',
    is_mono: true,
  }),
};
const FOR = {
  for: checks<Purpose>('What goes out from it', [
    ['transactional', 'Transactional mail', 'What somebody waits for: receipts, links to reset a password.'],
    ['marketing', 'Marketing', 'What sequences and broadcasts send to the contacts of lists.'],
  ]),
};

/** Another relay or inbox than before begins their fields anew. */
export function MailboxFields(props: { of?: MailboxDetails; onOutlet?(outlet: OutletName): void }) {
  const { of, onOutlet } = props;
  const [outlet, setOutlet] = useState<OutletName>(of?.kind === 'capture' ? 'capture' : 'relay');
  const choose = (name: OutletName): void => {
    setOutlet(name);
    onOutlet?.(name);
  };
  return (
    <>
      <OptionsField
        name="outlet"
        label="What becomes of its mail"
        options={OUTLETS}
        value={outlet}
        onChange={choose}
      />
      {outlet === 'relay' && <RelayFields key={of?.relay} relay={of?.relay} />}
      {outlet === 'url' && <RelayUrlField relay={of?.relay} />}
      <Fields fields={FOR} of={of ?? { for: ['transactional'] }} />
      <FineFields of={of} />
    </>
  );
}

/** A stored address has no password to hide, a typed one has. */
function RelayUrlField({ relay }: { relay: string | null | undefined }) {
  const stored = relay ?? '';
  const [typed, setTyped] = useState(stored);
  return (
    <SecretField
      name="relay"
      label="Relay"
      value={stored}
      is_shown={typed === stored}
      onInput={setTyped}
      placeholder="smtps://user:password@smtp.example.com:465"
      hint={`${stored.includes(':***@') ? KEEP : 'Special characters in the password are percent-encoded.'} ?tls=required demands TLS of smtp://, ?dkim=off leaves the signature to the relay.`}
    />
  );
}

/** Caps, and where answers of mail servers go and how they are told apart. */
function FineFields({ of }: { of: MailboxDetails | undefined }) {
  const is_set =
    of !== undefined &&
    (of.daily_limit !== null || of.rate !== null || of.return_path !== null || of.inbox !== null);
  return (
    <Advanced is_set={is_set}>
      <Fields fields={CAPS} of={of} />
      <InboxFields key={of?.inbox?.address} inbox={of?.inbox?.address} />
      <Fields fields={RETURN_PATH} of={of} />
      <SelectField
        name="verp"
        label="A return path of its own for each mail (VERP)"
        choices={of ? [[AS_IT_IS, `As it is: ${of.verp ? 'yes' : 'no'}`], ...VERP] : VERP}
        hint="Tells for sure which mail a bounce is about. The server behind the return path must take name+anything@."
      />
    </Advanced>
  );
}

/** Reads what was entered of a new one: what is empty is left to the API. */
export function readNew(entered: Entered): NewMailbox {
  const inbox = inboxIn(entered, null);
  const verp = entered.text('verp');
  return {
    address: entered.text('address'),
    ...outletIn(entered),
    ...entered.given({ ...FOR, ...CAPS, ...RETURN_PATH }),
    ...(inbox && { inbox }),
    ...(verp !== '' && { verp: verp === 'on' }),
  };
}

function outletIn(entered: Entered): Pick<NewMailbox, 'capture' | 'relay'> {
  const outlet = entered.text('outlet');
  if (outlet === 'capture') return { capture: true };
  return { relay: outlet === 'url' ? entered.text('relay') : newRelayIn(entered) };
}

/** Reads what was entered to change one. Addresses whose passwords are masked are sent only where they are others. */
export function readChanges(entered: Entered, of: MailboxDetails): MailboxChanges {
  const outlet = entered.text('outlet');
  const relay =
    outlet === 'url' ? entered.text('relay') : outlet === 'relay' ? relayIn(entered, of.relay) : null;
  const inbox = inboxIn(entered, of.inbox?.address);
  const verp = entered.text('verp');
  return {
    ...(outlet === 'capture' && of.kind !== 'capture' && { capture: true }),
    ...(relay !== null && relay !== of.relay && { relay }),
    ...(inbox !== undefined && { inbox }),
    ...entered.read({ ...FOR, ...CAPS, ...RETURN_PATH }),
    ...(verp !== AS_IT_IS && { verp: verp === '' ? null : verp === 'on' }),
  };
}
