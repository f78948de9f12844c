/** Who did what in a project, and when. */
import { PageHeader } from '../../components/page-header.tsx';
import type { PageProps } from '../../pages.ts';
import { useList } from '../../use-list.ts';
import { AUDIT_FILTERS, EventTable } from '../audit/event-table.tsx';

export default function ProjectAuditPage({ params }: PageProps<'project'>) {
  const list = useList('GET /projects/{project}/audit', { path: params }, { filters: AUDIT_FILTERS });
  return (
    <>
      <PageHeader
        title="Audit"
        lead="Who changed what, and from where. Apps are not on it: what a key does stands in the logs of mails and files."
      />
      <EventTable list={list} />
    </>
  );
}
