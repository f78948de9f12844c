/** The templates of a project, by category. */
import type { TemplateSummary } from '../../api.generated.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { ChoiceFilter, Filters, SearchFilter } from '../../components/filters.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { Badge, Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to, useQuery } from '../../router.ts';
import { useList } from '../../use-load.ts';
import { CATEGORIES } from './about.tsx';

export default function TemplatesPage({ params }: PageProps<'project'>) {
  const list = useList(
    'GET /projects/{project}/email-templates',
    { path: params },
    { filters: ['q', 'category', 'status'], is_paged: false },
  );
  // The endpoint answers all of a project at once.
  const isWanted = useWanted();
  const data = list.data && { data: list.data.data.filter(isWanted) };
  const create = (
    <ButtonLink kind="primary" href={hrefOf(to`/projects/${params.project}/templates/new`)}>
      <Icon name="plus" />
      New template
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        title="Templates"
        lead="Mails with fields that each send fills in: apps name a template instead of holding the text."
        actions={create}
      />
      <Filters>
        <SearchFilter label="Name, slug or subject" />
        <ChoiceFilter name="category" label="Category" choices={Object.keys(CATEGORIES)} />
        <ChoiceFilter name="status" label="Status" choices={['active', 'archived']} />
      </Filters>
      <DataTable
        label="Templates"
        list={{ ...list, data }}
        keyOf={(template) => template.slug}
        href={(template) => hrefOf(to`/projects/${params.project}/templates/${template.slug}`)}
        columns={[
          {
            title: 'Name',
            cell: (template) => (
              <>
                {template.name}
                <code class="cell-note">{template.slug}</code>
              </>
            ),
          },
          { title: 'Subject', cell: (template) => <span class="muted">{template.subject}</span> },
          {
            title: 'Category',
            cell: (template) => <Badge>{template.category.replaceAll('_', ' ')}</Badge>,
          },
          { title: 'Status', cell: (template) => <TemplateStatus of={template} /> },
          { title: 'Changed', cell: (template) => <Time at={template.updated_at} /> },
        ]}
        empty={
          <Empty drawing="mail" title="No template yet">
            <p>Write the first mail here; an app then sends it by its slug, with the values of its fields.</p>
            {create}
          </Empty>
        }
      />
    </>
  );
}

/** Says whether a template fits the filters in the address. */
function useWanted(): (template: TemplateSummary) => boolean {
  const query = useQuery();
  const q = (query.get('q') ?? '').toLowerCase();
  const category = query.get('category');
  const status = query.get('status');
  return (template) =>
    [template.name, template.slug, template.subject].some((text) => text.toLowerCase().includes(q)) &&
    (category === null || template.category === category) &&
    (status === null || (status === 'active') === template.is_active);
}

export function TemplateStatus({
  of,
}: {
  of: Pick<TemplateSummary, 'is_active' | 'is_marketing' | 'has_draft'>;
}) {
  return (
    <span class="badges">
      <Status of={of.is_active ? 'active' : 'archived'} />
      {of.is_marketing && <Badge tone="accent">marketing</Badge>}
      {of.has_draft && <Badge tone="warn">draft</Badge>}
    </span>
  );
}
