/** All projects that the person may see. */
import { may } from '../../capabilities.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { ChoiceFilter, Filters, SearchFilter } from '../../components/filters.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { Count } from '../../components/quantity.tsx';
import { Badge, Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { useList } from '../../use-load.ts';

function NewProject() {
  return (
    <ButtonLink kind="primary" href={hrefOf('/projects/new')}>
      <Icon name="plus" />
      New project
    </ButtonLink>
  );
}

export default function ProjectsPage() {
  const list = useList('GET /projects', {}, { filters: ['q', 'status'] });
  return (
    <>
      <PageHeader
        title="Projects"
        lead="A project is one app: it owns the keys, files, mail and secrets of that app, and no other project sees them."
        actions={
          <>
            {may('can_administer') && (
              <a class="button" href={hrefOf('/projects/import')}>
                Import a project
              </a>
            )}
            <NewProject />
          </>
        }
      />
      <Filters>
        <SearchFilter label="Name or slug" />
        <ChoiceFilter name="status" label="Status" choices={['active', 'inactive']} />
      </Filters>
      <DataTable
        label="Projects"
        list={list}
        keyOf={(project) => project.id}
        href={(project) => hrefOf(to`/projects/${project.slug}`)}
        columns={[
          { title: 'Name', cell: (project) => project.name },
          { title: 'Slug', cell: (project) => <code>{project.slug}</code> },
          { title: 'Status', cell: (project) => <Status of={project.status} /> },
          {
            title: 'Platforms',
            cell: (project) => (
              <span class="badges">
                {project.platforms.length === 0 ? <span class="muted">—</span> : null}
                {project.platforms.map((platform) => (
                  <Badge key={platform}>{platform}</Badge>
                ))}
              </span>
            ),
          },
          { title: 'Keys', is_number: true, cell: (project) => <Count of={project.api_keys_count} /> },
          { title: 'Created', cell: (project) => <Time at={project.created_at} /> },
        ]}
        empty={
          <Empty drawing="satchel" title="No project yet" command="satchel project create --name Shop">
            <p>Make one for each of your apps. It takes a name, and nothing else.</p>
            <NewProject />
          </Empty>
        }
      />
    </>
  );
}
