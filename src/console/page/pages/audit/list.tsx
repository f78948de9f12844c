/** The audit trail over all projects, and of what is of none. */
import { PageHeader } from '../../components/page.tsx';
import type { PageProps } from '../../pages.ts';
import { useList, useLoad } from '../../use-load.ts';
import { AUDIT_FILTERS, EventTable } from './event-table.tsx';

/** The most that the API answers at once; events of further projects tell the id. */
const MAX_PROJECTS = 100;

export default function AuditPage() {
  const projects = useLoad('GET /projects', { query: { per_page: MAX_PROJECTS } });
  const names = new Map(projects.data?.data.map(({ public_id, name }) => [public_id, name]));
  const list = useList('GET /audit', {}, { filters: AUDIT_FILTERS });
  return (
    <>
      <PageHeader
        title="Audit"
        lead="Who did what, and from where: over all projects, newest first. Nothing can be taken away from it."
      />
      <EventTable list={list} projects={names} />
    </>
  );
}

/** The audit trail of a project. */
export function ProjectAuditPage({ params }: PageProps<'project'>) {
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
