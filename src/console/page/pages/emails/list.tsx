/** The mail log of a project: what was sent to whom, and what became of it. */
import type { Email } from '../../api.generated.ts';
import { ButtonLink, FileLink } from '../../components/button-link.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { ChoiceFilter, DateFilter, Filters, SearchFilter } from '../../components/filters.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to, useQuery } from '../../router.ts';
import { useList, useLoad } from '../../use-load.ts';
import { MailStatus } from './email-facts.tsx';
import { RetryAll } from './retry-all.tsx';

const STATUSES = [
  'scheduled',
  'queued',
  'sending',
  'sent',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'failed',
  'unknown',
  'canceled',
] as const satisfies Email['status'][];
const FILTERS = ['to', 'template', 'date_from', 'date_to'] as const;

export default function EmailsPage({ params }: PageProps<'project'>) {
  const templates = useLoad('GET /projects/{project}/email-templates', { path: params });
  const list = useList(
    'GET /projects/{project}/emails',
    { path: params },
    { filters: ['status', ...FILTERS] },
  );
  const query = useQuery();
  const slugs = templates.data?.data.map(({ slug }) => slug) ?? [];
  const filter = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? undefined]));
  const asked = { status: STATUSES.find((each) => each === query.get('status')), ...filter };
  const has_any = list.data !== null && list.data.data.length > 0;
  const send = (
    <ButtonLink kind="primary" href={hrefOf(to`/projects/${params.project}/emails/new`)}>
      <Icon name="mail" />
      Send a mail
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        title="Mail log"
        lead="Every mail of this project, newest first, and what became of it."
        actions={send}
      />
      <Filters>
        <SearchFilter name="to" label="To" />
        {(slugs.length > 0 || query.has('template')) && (
          <ChoiceFilter name="template" label="Template" choices={slugs} />
        )}
        <ChoiceFilter name="status" label="Status" choices={STATUSES} />
        <DateFilter name="date_from" label="Since" />
        <DateFilter name="date_to" label="Until" is_end />
        {has_any && (
          <FileLink endpoint="GET /projects/{project}/emails.csv" input={{ path: params, query: asked }}>
            Save as CSV
          </FileLink>
        )}
        {has_any && asked.status === 'failed' && (
          <RetryAll project={params.project} filter={filter} onChange={list.reload} />
        )}
      </Filters>
      <DataTable
        label="Mails"
        list={list}
        keyOf={(email) => email.id}
        href={(email) => hrefOf(to`/projects/${params.project}/emails/${email.id}`)}
        columns={[
          { title: 'Subject', cell: (email) => email.subject || <span class="muted">(no subject)</span> },
          { title: 'To', cell: (email) => email.to },
          { title: 'Status', cell: (email) => <MailStatus of={email} /> },
          {
            title: 'Template',
            cell: (email) => email.template ?? <span class="muted">—</span>,
          },
          { title: 'Accepted', cell: (email) => <Time at={email.created_at} /> },
        ]}
        empty={
          <Empty drawing="mail" title="No mail yet">
            <p>
              An app sends mail with a key that may; people send one here. Each then stands in this log, with
              what its relay said.
            </p>
            {send}
          </Empty>
        }
      />
    </>
  );
}
