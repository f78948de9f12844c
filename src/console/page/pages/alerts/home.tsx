/** Who is told when something is wrong, and whether that arrives. */
import { useState } from 'preact/hooks';
import type { Alerts, AlertsTest } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { check, choice, Fields, secret, words } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded, Notice, PageHeader, Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { type Load, useLoad } from '../../use-load.ts';

type Format = NonNullable<Alerts['format']>;

const FORMATS: Readonly<Record<Format, string>> = {
  json: 'JSON',
  slack: 'Slack',
  discord: 'Discord',
  ntfy: 'ntfy',
  gotify: 'Gotify',
};

const fieldsOf = ({ url }: Alerts) => ({
  email: words('Mail to', { hint: 'At most ten addresses, with commas between.', is_mono: true }),
  url: secret('URL', {
    hint:
      url === null
        ? 'Told by POST. It is kept sealed, and never shown again.'
        : `At present at ${url}. Left empty, it stays.`,
  }),
  format: choice<Format>('What stands behind the URL', FORMATS),
  backups_here: check('Miss backups', {
    hint: 'Say so where none was made or verified here for two days. Where somebody else keeps them, leave it unticked.',
  }),
});

export default function AlertsPage() {
  const load = useLoad('GET /alerts', {});
  return (
    <>
      <PageHeader
        title="Alerts"
        lead="A problem is told within a minute, again after a day while it lasts, and once it is mended. Have both a mail and a URL: each tells where the other fails."
      />
      <Loaded load={load}>{(of) => <Told of={of} load={load} />}</Loaded>
    </>
  );
}

function Told({ of, load }: { of: Alerts; load: Load<Alerts> }) {
  const { email, url, format, problem, last_sent_at } = of;
  const fields = fieldsOf(of);
  const save = async (entered: Entered): Promise<void> => {
    const { url: fresh, format, ...rest } = entered.read(fields);
    const by_url =
      url === null && fresh === null ? {} : { format, ...(fresh === null ? {} : { url: fresh }) };
    await call('PUT /alerts', { body: { ...rest, ...by_url }, if_match: entered.version });
    load.reload();
  };
  const forget = async (): Promise<void> => {
    await call('PUT /alerts', { body: { url: null }, if_match: load.etag });
    load.reload();
  };
  return (
    <div class="stack">
      {problem !== null && (
        <Notice tone="bad">
          <strong>Alerts do not arrive.</strong> <span class="said">{problem}</span>
        </Notice>
      )}
      <Panel
        title="Who is told"
        actions={
          url !== null && (
            <ActionButton act={forget} done="The URL is forgotten">
              Forget the URL
            </ActionButton>
          )
        }
      >
        <Form submit="Save" onSubmit={save} version={load.etag} is_wide key={load.etag}>
          <Fields fields={fields} of={{ ...of, url: null, format: format ?? 'json' }} />
        </Form>
      </Panel>
      {(email.length > 0 || url !== null) && (
        <Panel title="Whether it arrives" lead={<LastSent at={last_sent_at} />}>
          <Trying onEnd={load.reload} url={url} />
        </Panel>
      )}
    </div>
  );
}

function LastSent({ at }: { at: string | null }) {
  return at === null ? (
    <>Nothing was taken yet.</>
  ) : (
    <>
      Something was last taken <Time at={at} />.
    </>
  );
}

/** Sends a test to all of them at once, with what came of each. */
function Trying({ url, onEnd }: { url: string | null; onEnd(): void }) {
  const [tested, setTested] = useState<AlertsTest | null>(null);
  const test = async (): Promise<void> => {
    setTested(null);
    setTested(await call('POST /alerts/test', {}));
    onEnd();
  };
  const all = [...(tested?.email ?? []), ...(tested?.url ? [{ to: url ?? 'the URL', ...tested.url }] : [])];
  return (
    <div class="stack">
      {all.map(({ to, ok, words }) => (
        <Notice key={to} tone={ok ? 'good' : 'bad'} role="status">
          <strong>
            {to}: {ok ? 'taken.' : 'not taken.'}
          </strong>{' '}
          {words !== null && <span class="said">{words}</span>}
        </Notice>
      ))}
      <div>
        <ActionButton act={test}>Send a test</ActionButton>
      </div>
    </div>
  );
}
