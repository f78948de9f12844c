/** One delivery of a webhook: what was sent, how it went out, and what the receiver answered. */
import type { Webhook, WebhookDeliveryDetails } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { mayWrite } from '../../capabilities.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Facts, Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { toneOf } from './deliveries.tsx';
import { nameOf } from './webhook-fields.tsx';

const WEBHOOK = '/projects/{project}/webhooks/{webhook}';
const DELIVERY = `${WEBHOOK}/deliveries/{delivery}` as const;

export default function DeliveryPage({ params }: PageProps<'project' | 'webhook' | 'delivery'>) {
  const webhook = useLoad(`GET ${WEBHOOK}`, { path: params });
  const load = useLoad(`GET ${DELIVERY}`, { path: params }, { looks_again: true });
  const of = load.data;
  const replay = async (): Promise<void> => {
    await call(`POST ${DELIVERY}/replay`, { path: params }).finally(load.reload);
  };
  return (
    <>
      <PageHeader
        title={of?.type ?? 'Delivery'}
        back={{
          href: hrefOf(to`/projects/${params.project}/webhooks/${params.webhook}`),
          label: webhook.data ? nameOf(webhook.data) : 'Webhook',
        }}
        beside={of && <Status of={of.status} tone={toneOf(of)} />}
        actions={
          webhook.data?.is_active && (
            <ActionButton act={replay} kind="primary" done="It is sent again">
              Send again
            </ActionButton>
          )
        }
      />
      <Loaded load={load}>
        {(delivery) => (
          <div class="stack">
            <div class="columns">
              <LastTry of={delivery} />
              <About of={delivery} webhook={webhook.data} />
            </div>
            <Answer of={delivery} />
            <Sent of={delivery} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function About({ of, webhook }: { of: WebhookDeliveryDetails; webhook: Webhook | null }) {
  return (
    <Panel title="About">
      <Facts
        of={[
          ['Tries', of.attempts],
          ['What came of it', of.error ?? of.response_status],
          [
            'Next try',
            webhook?.is_active === false ? 'none, as the webhook is off' : <Time at={of.next_at} />,
          ],
          ['Since', <Time key="since" at={of.created_at} />],
          [
            'Id',
            <code key="id" class="any-break">
              {of.id}
            </code>,
          ],
        ]}
      />
    </Panel>
  );
}

function LastTry({ of: { last_try, attempts } }: { of: WebhookDeliveryDetails }) {
  return (
    <Panel title="Last try">
      {last_try === null ? (
        <p class="muted">
          {attempts === 0
            ? 'It was not tried yet.'
            : 'Nothing is kept of it: it was over a day ago, a hundred others are newer, or nothing went out.'}
        </p>
      ) : (
        <Facts
          of={[
            ['When', <Time key="at" at={last_try.at} exact />],
            ['Took', `${last_try.ms} ms`],
            [
              'To',
              <span key="url" class="any-break">
                {last_try.url}
              </span>,
            ],
            ...Object.entries(last_try.headers).map(
              ([name, value]) =>
                [
                  name,
                  <code key={name} class="any-break">
                    {value}
                  </code>,
                ] as const,
            ),
          ]}
        />
      )}
    </Panel>
  );
}

/** Nothing where nothing came back, or nothing is kept of it. */
function Answer({ of: { last_try, response_status } }: { of: WebhookDeliveryDetails }) {
  const answer = last_try?.answer;
  if (!answer) return null;
  const { content_type, body, is_cut } = answer;
  const lead = [
    ...(response_status === null ? [] : [`Status ${response_status}`]),
    ...(content_type === null ? [] : [content_type]),
    ...(is_cut ? ['the beginning'] : []),
  ].join(', ');
  return (
    <Panel
      title="What it answered"
      lead={lead}
      actions={body && <CopyButton text={body} label="Copy the answer" />}
    >
      {body === null ? (
        <p class="muted">
          {mayWrite()
            ? 'Its receiver stands within this network: only who administers sees what it says.'
            : 'You may look, and what receivers say is for those who may change things.'}
        </p>
      ) : body === '' ? (
        <p class="muted">Nothing behind the status.</p>
      ) : (
        <Text label="The answer">{body}</Text>
      )}
    </Panel>
  );
}

function Sent({ of: { body } }: { of: WebhookDeliveryDetails }) {
  return (
    <Panel title="What is sent" actions={body && <CopyButton text={body} label="Copy what is sent" />}>
      {body === null ? (
        <p class="muted">It is no longer kept.</p>
      ) : (
        <Text label="What is sent">{JSON.stringify(JSON.parse(body), null, 2)}</Text>
      )}
    </Panel>
  );
}

/** A text in a box, which keys scroll too where it is longer. */
function Text({ label, children }: { label: string; children: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls.
    <section class="mail-text mono" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
