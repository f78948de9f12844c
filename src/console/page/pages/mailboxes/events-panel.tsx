/** Where the relay's provider tells of bounces: the URL for its settings, what is ticked there, and whether it tells. */
import { useState } from 'preact/hooks';
import type { MailboxDetails, RelayProvider } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { askFirst } from '../../components/ask-first.tsx';
import { Command } from '../../components/copy-button.tsx';
import { Fields, optional, SelectField, secret } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Facts, Notice, Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useLoad } from '../../use-load.ts';
import { isOf } from './relay-fields.tsx';

type Told = Pick<MailboxDetails, 'address' | 'events' | 'relay' | 'inbox'>;
type Provider = RelayProvider & { events: NonNullable<RelayProvider['events']> };
type Name = NonNullable<MailboxDetails['events']>['provider'];

/** Those that sign with a key of the account's. */
const SIGNING: readonly string[] = ['sendgrid', 'mailgun', 'resend'];

export function EventsPanel(props: { of: Told; etag: string | null; title?: string; onChange(): void }) {
  const { of, etag, title = 'Bounces by webhook', onChange } = props;
  const all = useLoad('GET /relay-providers', {}).data ?? [];
  const providers = all.filter((each): each is Provider => each.events !== null);
  const host = of.relay !== null && URL.canParse(of.relay) ? new URL(of.relay).hostname : '';
  const own = providers.find((each) => isOf(each.host, host));
  const now = providers.find(({ name }) => name === of.events?.provider) ?? own;
  if (of.relay === null || providers.length === 0) return null;
  return (
    <Panel
      title={title}
      lead="Most providers take every mail, and tell of bounces and complaints later: with this, at a URL here."
    >
      <div class="stack">
        {of.events === null && own && of.inbox === null && (
          <Notice tone="warn">
            <strong>Bounces after acceptance are not seen.</strong> {own.label} tells them by its webhook
            alone.
          </Notice>
        )}
        {of.events && now && (
          <Heard of={of.events} provider={now} address={of.address} etag={etag} onChange={onChange} />
        )}
        <Choose of={of} now={now} providers={providers} etag={etag} onChange={onChange} />
      </div>
    </Panel>
  );
}

function Heard(props: {
  of: NonNullable<Told['events']>;
  provider: Provider;
  address: string;
  etag: string | null;
  onChange(): void;
}) {
  const { of, provider, address, etag, onChange } = props;
  const path = { address };
  const rotate = async (): Promise<void> => {
    const told = <p>The one of now is unknown at once: put the new one into the provider’s settings.</p>;
    await askFirst({ title: 'Make another URL?', submit: 'Make another', told });
    await call('POST /mailboxes/{address}/events/rotate', { path }).finally(onChange);
  };
  const end = async (): Promise<void> => {
    const told = <p>What {provider.label} tells is not heard any more, and its URL is gone.</p>;
    await askFirst({ title: 'Hear of nothing?', submit: 'Hear of nothing', tone: 'bad', told });
    await call('PATCH /mailboxes/{address}', { path, body: { events: null }, if_match: etag }).finally(
      onChange,
    );
  };
  return (
    <>
      {of.problem !== null && (
        <Notice tone="bad">
          <strong>The last request was refused</strong> <Time at={of.refused_at} />: {of.problem}
        </Notice>
      )}
      {of.url !== null && <Command of={of.url} label="Copy the URL" />}
      <Facts
        of={[
          ['Where it goes', provider.events.place],
          ['Tick there', provider.events.ticks],
          [
            'Told',
            of.last_event_at === null ? (
              'Nothing yet: the first event is waited for.'
            ) : (
              <>
                Events come; the last one <Time at={of.last_event_at} />
              </>
            ),
          ],
        ]}
      />
      <p class="row">
        <ActionButton is_small act={rotate} done="It has another URL">
          Make another URL
        </ActionButton>
        <ActionButton is_small act={end} done="Nothing is heard any more">
          Hear of nothing
        </ActionButton>
      </p>
    </>
  );
}

const SET = {
  configuration_set: optional('Configuration set', { hint: 'The one whose events are told.', is_mono: true }),
};

function Choose(props: {
  of: Told;
  now: Provider | undefined;
  providers: readonly Provider[];
  etag: string | null;
  onChange(): void;
}) {
  const { of, now, providers, etag, onChange } = props;
  const [chosen, setChosen] = useState<string>(now?.name ?? '');
  const [turn, setTurn] = useState(0);
  const has_key = of.events?.has_key === true && of.events.provider === chosen;
  const key = secret('Signing key', {
    placeholder: has_key ? 'stored; left empty, it stays' : '',
    hint:
      chosen === 'resend'
        ? 'It stands beside the webhook, and begins with whsec_.'
        : 'With it, what is not signed is refused. It stands beside the webhook.',
  });
  const fields = {
    ...(SIGNING.includes(chosen) && { key }),
    ...(chosen === 'ses' && SET),
  };
  const save = async (entered: Entered): Promise<void> => {
    const { key = null, ...rest } = entered.read(fields);
    const provider = entered.text('provider') as Name; // It is one of those that can be chosen.
    const body = { events: { provider, ...rest, ...(key !== null && { key }) } };
    await call('PATCH /mailboxes/{address}', {
      path: { address: of.address },
      body,
      if_match: entered.version,
    });
    setTurn(turn + 1);
    onChange();
  };
  return (
    <Form key={turn} version={etag} submit={of.events ? 'Change it' : 'Make the URL'} onSubmit={save}>
      <SelectField
        name="provider"
        label="Whose events"
        value={chosen}
        onChange={setChosen}
        choices={[
          ...(now ? [] : [['', 'Choose the provider'] as const]),
          ...providers.map(({ name, label }) => [name, label] as const),
        ]}
      />
      <Fields key={chosen} fields={fields} of={{ configuration_set: of.events?.configuration_set ?? null }} />
    </Form>
  );
}
