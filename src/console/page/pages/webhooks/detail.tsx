/** One webhook: what it was told, a test, switching it, its settings, a new secret, and its end. */
import type { Webhook, WebhookWithSecret } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { askFirst } from '../../components/ask-first.tsx';
import { Ending } from '../../components/confirm-by-name.tsx';
import { Fields } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { SecretOnce } from '../../components/masked-secret.tsx';
import { Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { type Load, useList, useLoad } from '../../use-load.ts';
import { useRevealed } from '../../use-revealed.ts';
import { Deliveries } from './deliveries.tsx';
import { nameOf, WEBHOOK_FIELDS, WebhookState, WHY_OFF } from './webhook-fields.tsx';

const WEBHOOK = '/projects/{project}/webhooks/{webhook}';
const TABS = { deliveries: 'Deliveries', settings: 'Settings' } as const;

interface Part {
  path: { project: string; webhook: string };
  load: Load<Webhook>;
  of: Webhook;
}

export default function WebhookPage({ params }: PageProps<'project' | 'webhook'>) {
  const path = { project: params.project, webhook: params.webhook };
  const load = useLoad(`GET ${WEBHOOK}`, { path }, { looks_again: true });
  const list = useList(`GET ${WEBHOOK}/deliveries`, { path });
  const tab = useTab(['deliveries', 'settings']);
  const webhook = load.data;
  return (
    <>
      <PageHeader
        title={webhook ? nameOf(webhook) : 'Webhook'}
        back={{ href: hrefOf(to`/projects/${params.project}/webhooks`), label: 'Webhooks' }}
        beside={webhook && <WebhookState of={webhook} />}
        lead={webhook?.description}
        actions={webhook && <Acts path={path} load={load} of={webhook} onChange={list.reload} />}
      />
      <Tabs tabs={TABS} now={tab} />
      <Loaded load={load}>
        {(of) => (
          <div class="stack">
            {of.disabled_reason && <p class="notice bad">{WHY_OFF[of.disabled_reason]}</p>}
            {tab === 'deliveries' && <Deliveries path={path} list={list} is_active={of.is_active} />}
            {tab === 'settings' && <Settings path={path} load={load} of={of} />}
          </div>
        )}
      </Loaded>
    </>
  );
}

function Acts({ path, load, of, onChange }: Part & { onChange(): void }) {
  const test = async (): Promise<void> => {
    const { error, response_status } = await call(`POST ${WEBHOOK}/test`, { path }).finally(onChange);
    if (error === null) toast(`The test was taken: ${response_status}`);
    else toast(`The test was not taken. ${error}`, 'bad');
  };
  const turn = async (): Promise<void> => {
    const body = { is_active: !of.is_active };
    await call(`PATCH ${WEBHOOK}`, { path, body, if_match: load.etag }).finally(load.reload);
    onChange();
  };
  return (
    <>
      <ActionButton act={turn} done={of.is_active ? 'It is told nothing more' : 'It is told again'}>
        {of.is_active ? 'Switch off' : 'Switch on'}
      </ActionButton>
      <ActionButton act={test} kind="primary">
        Send a test
      </ActionButton>
    </>
  );
}

function Settings({ path, load, of }: Part) {
  const change = async (entered: Entered): Promise<void> => {
    const body = entered.read(WEBHOOK_FIELDS);
    await call(`PATCH ${WEBHOOK}`, { path, body, if_match: entered.version });
    toast('The changes are saved');
    load.reload();
  };
  const remove = async (): Promise<void> => {
    await call(`DELETE ${WEBHOOK}`, { path });
    toast(`The webhook to ${nameOf(of)} is deleted`);
    navigate(to`/projects/${path.project}/webhooks`, { replace: true });
  };
  return (
    <>
      <Panel title="Settings">
        <Form is_wide submit="Save the changes" onSubmit={change} version={load.etag}>
          <Fields fields={WEBHOOK_FIELDS} of={of} />
        </Form>
      </Panel>
      <Secret path={path} onChange={load.reload} />
      <Ending
        title="Delete the webhook"
        lead="To have it told nothing for a while, switch it off."
        name={nameOf(of)}
        act={remove}
      >
        What waits for it is not sent, and the list of what it was told goes with it.
      </Ending>
    </>
  );
}

function Secret({ path, onChange }: Pick<Part, 'path'> & { onChange(): void }) {
  const { shown, show } = useRevealed<WebhookWithSecret>(null);
  const rotate = async (): Promise<void> => {
    await askFirst({
      title: 'Make a new secret?',
      submit: 'Make a new secret',
      told: <p>Both sign for 24 hours. Give the new one to the receiver by then.</p>,
    });
    show(await call(`POST ${WEBHOOK}/rotate`, { path }));
    onChange();
  };
  return (
    <Panel title="Secret" is_for_writing lead="It signs what is sent, and is shown only as it is made.">
      <div class="stack">
        {shown && (
          <SecretOnce secret={shown.secret}>
            This is the new secret, shown this once. The former one signs as well for 24 hours.
          </SecretOnce>
        )}
        <div>
          <ActionButton act={rotate}>Make a new secret</ActionButton>
        </div>
      </div>
    </Panel>
  );
}
