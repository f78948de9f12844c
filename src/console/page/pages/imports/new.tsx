/** Importing contacts into a list: from a file whose columns are mapped, or from what is pasted. */
import type { ContactList } from '../../api.generated.ts';
import { Loaded, Notice, PageHeader } from '../../components/page.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { FileImport } from './file-import.tsx';
import { PasteImport } from './paste-import.tsx';

const TABS = { file: 'A CSV file', paste: 'Paste addresses' } as const;

export default function NewImportPage({ params }: PageProps<'project' | 'list'>) {
  const load = useLoad('GET /projects/{project}/email-lists/{list}', { path: params });
  const tab = useTab(['file', 'paste']);
  return (
    <>
      <PageHeader
        title="Import contacts"
        back={{
          href: hrefOf(to`/projects/${params.project}/lists/${params.list}`),
          label: load.data?.name ?? 'List',
        }}
        lead="Each row passes the same checks as a single contact: syntax, basis of consent, suppressions, the domain's mail servers, duplicates."
      />
      <Tabs tabs={TABS} now={tab} />
      <Loaded load={load}>
        {(list) =>
          list.archived ? (
            <Archived project={params.project} list={list} />
          ) : tab === 'file' ? (
            <FileImport path={params} list={list} />
          ) : (
            <PasteImport path={params} list={list} />
          )
        }
      </Loaded>
    </>
  );
}

function Archived({ project, list }: { project: string; list: ContactList }) {
  return (
    <Notice tone="warn">
      The list {list.name} is archived: nobody can be added.{' '}
      <a href={`${hrefOf(to`/projects/${project}/lists/${list.id}`)}?tab=settings`}>Restore it</a> first.
    </Notice>
  );
}
