/** The relay of a mailbox in parts, filled in by its provider where that is a known one; and what was entered of it. */
import { useState } from 'preact/hooks';
import type { NewMailbox, RelayCheck, RelayProvider } from '../../api.generated.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { choice, Fields, SelectField, secret, text } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { Advanced } from '../../components/page.tsx';
import { useLoad } from '../../use-load.ts';

type Tls = RelayProvider['tls'];

const TLS: readonly (readonly [Tls, string])[] = [
  ['required', 'STARTTLS, or nothing is sent'],
  ['tls', 'TLS from the first byte'],
  ['starttls', 'STARTTLS where it is offered'],
  ['none', 'Never'],
];

/** The first values of the fields. */
interface RelayShown {
  host: string;
  port: string;
  user: string;
  tls: Tls;
  has_password: boolean;
}

const BLANK: RelayShown = { host: '', port: '', user: '', tls: 'required', has_password: false };

/** Security and port as most providers have them. */
const USUAL = ['required ', 'required 587', 'tls ', 'tls 465'];

/** Of `smtps://user:***@host:port?tls=required`, as the API shows a relay. */
function readRelay(address: string | null | undefined): RelayShown {
  if (!address || !URL.canParse(address)) return BLANK;
  const url = new URL(address);
  const said = url.searchParams.get('tls');
  const tls = url.protocol === 'smtps:' ? 'tls' : said === 'required' || said === 'none' ? said : 'starttls';
  return {
    host: url.hostname,
    port: url.port,
    user: decodeURIComponent(url.username),
    tls,
    has_password: url.password !== '',
  };
}

const logIn = ({ host, has_password }: RelayShown) => ({
  host: text('Host', {
    placeholder: 'smtp.example.com',
    hint: host.includes('REGION') ? 'Put the region of your account for REGION: eu-central-1.' : '',
    is_mono: true,
  }),
  user: text('User', { is_mono: true }),
  password: secret('Password', {
    placeholder: has_password ? 'stored; left empty, it stays' : '',
    hint: 'It is never shown again. A relay that asks for no log-in has neither.',
  }),
});
const ends = ({ tls }: RelayShown) => ({
  port: text('Port', { type: 'number', placeholder: tls === 'tls' ? '465' : '587' }),
  tls: choice('Encryption', TLS, { hint: 'A password goes to no other machine without it.' }),
});

export function RelayFields({ relay }: { relay: string | null | undefined }) {
  const providers = useLoad('GET /relay-providers', {});
  // A provider that is chosen begins the fields anew, with what is known of it.
  const [{ turn, begin }, setBegin] = useState({ turn: 0, begin: readRelay(relay) });
  const choose = (name: string): void => {
    const chosen = providers.data?.find((each) => each.name === name);
    const { host = '', port = '', user = null, tls = BLANK.tls } = chosen ?? {};
    setBegin({ turn: turn + 1, begin: { ...BLANK, host, port: String(port), user: user ?? '', tls } });
  };
  const now = providers.data?.find(({ host }) => isOf(host, begin.host))?.name ?? '';
  return (
    <>
      <SelectField
        key={String(providers.data !== null)}
        name="provider"
        label="Provider"
        value={now}
        onChange={choose}
        choices={[
          ['', 'Another one'],
          ...(providers.data ?? []).map(({ name, label }) => [name, label] as const),
        ]}
      />
      <Fields key={`log-in ${turn}`} fields={logIn(begin)} of={begin} prefix="relay." />
      <Advanced
        key={`ends ${turn}`}
        title="Port and encryption"
        is_set={!USUAL.includes(`${begin.tls} ${begin.port}`)}
      >
        <Fields fields={ends(begin)} of={begin} prefix="relay." />
      </Advanced>
    </>
  );
}

/** Says whether a host is that of a provider, of any of its regions. */
export function isOf(pattern: string, host: string): boolean {
  const [before = '', after = ''] = pattern.split('REGION');
  return pattern === host || (after !== '' && host.startsWith(before) && host.endsWith(after));
}

/** The parts that were entered, where they are others than those that are there; null where none is. */
export function relayIn(entered: Entered, relay: string | null | undefined) {
  const before = readRelay(relay);
  const { host, user, port, tls, password } = entered.read({ ...logIn(before), ...ends(before) }, 'relay.');
  const is_same = host === before.host && user === before.user && port === before.port && tls === before.tls;
  if (relay && is_same && password === null) return null;
  // An empty port is the usual one, also where another one is stored.
  const usual = before.port === '' ? null : tls === 'tls' ? 465 : 587;
  const sent_port = port === '' ? usual : Number(port);
  return {
    host,
    user: user || null,
    tls,
    ...(sent_port !== null && { port: sent_port }),
    ...(password !== null && { password }),
  };
}

/** The same for a mailbox that is made, where what is empty is left out. */
export function newRelayIn(entered: Entered): NonNullable<NewMailbox['relay']> {
  const { host = '', user = null, ...rest } = relayIn(entered, null) ?? {};
  return { host, ...rest, ...(user !== null && { user }) };
}

const STAGES: Readonly<Record<NonNullable<RelayCheck['stage']>, string>> = {
  connect: 'The server was not reached.',
  tls: 'No safe connection came about (TLS).',
  greeting: 'The server did not greet.',
  login: 'The server did not let us in.',
  sender: 'The server takes no mail from this address.',
};

/** `save`: all the same. */
export function RelayRefused({ check, save }: { check: RelayCheck; save(): Promise<void> }) {
  const { stage, words, hint } = check;
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>{stage === null ? 'It did not work.' : STAGES[stage]}</strong> Nothing is saved.
      </p>
      <p>
        <q class="said">{words}</q>
      </p>
      {hint && <p>{hint}</p>}
      <p>
        <ActionButton act={save} is_small>
          Save it all the same
        </ActionButton>
      </p>
    </div>
  );
}
