/** Deliveries of a webhook in 30 days. Each can be sent again. */
import type { WebhookDelivery } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/page.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import type { List } from '../../use-load.ts';

export function Deliveries(props: {
  path: { project: string; webhook: string };
  list: List<WebhookDelivery>;
  /** One that is off is sent nothing. */
  is_active: boolean;
}) {
  const { path, list, is_active } = props;
  const replay = (delivery: WebhookDelivery) => async (): Promise<void> => {
    await call('POST /projects/{project}/webhooks/{webhook}/deliveries/{delivery}/replay', {
      path: { ...path, delivery: delivery.id },
    }).finally(list.reload);
  };
  return (
    <DataTable
      label="Deliveries"
      list={list}
      keyOf={(row) => row.id}
      href={(row) => hrefOf(to`/projects/${path.project}/webhooks/${path.webhook}/deliveries/${row.id}`)}
      columns={[
        { title: 'Type', cell: (row) => row.type },
        { title: 'Status', cell: (row) => <Status of={row.status} tone={toneOf(row)} /> },
        { title: 'Tries', is_number: true, cell: (row) => row.attempts },
        { title: 'What it said', cell: (row) => row.error ?? row.response_status ?? '—' },
        { title: 'Next try', cell: (row) => <Time at={row.next_at} /> },
        { title: 'Since', cell: (row) => <Time at={row.created_at} /> },
        {
          title: 'Send again',
          is_number: true,
          cell: (row) =>
            is_active ? (
              <ActionButton
                is_small
                act={replay(row)}
                done="It is sent again"
                label={`Send again: ${row.id}`}
              >
                Send again
              </ActionButton>
            ) : null,
        },
      ]}
      empty={
        <Empty drawing="mail" title="Nothing was told yet">
          <p>Deliveries of 30 days stand here. Send a test to see the first.</p>
        </Empty>
      }
    />
  );
}

export function toneOf({ status, attempts }: Pick<WebhookDelivery, 'status' | 'attempts'>) {
  if (status === 'waiting') return attempts > 0 ? 'warn' : 'accent';
  return status === 'delivered' ? 'good' : 'bad';
}
