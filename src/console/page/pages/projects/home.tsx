/** A project at a glance: what it is, its keys, and what comes next. */
import type { ProjectWithKeys } from '../../api.generated.ts';
import { Empty } from '../../components/empty.tsx';
import { Facts } from '../../components/facts.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';

export default function ProjectPage({ params }: PageProps<'project'>) {
  const load = useLoad('GET /projects/{project}', { path: params });
  const project = load.data;
  return (
    <>
      <PageHeader
        title={project?.name ?? 'Project'}
        beside={project && <Status of={project.status} />}
        lead={project?.description}
        actions={
          <a class="button" href={hrefOf(to`/projects/${params.project}/settings`)}>
            Settings
          </a>
        }
      />
      <Loaded load={load}>
        {(loaded) => (
          <div class="columns">
            <Keys project={loaded} />
            <About project={loaded} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function Keys({ project }: { project: ProjectWithKeys }) {
  const { slug, api_keys } = project;
  const all = hrefOf(to`/projects/${slug}/keys`);
  return (
    <Panel title="Keys" actions={<a href={all}>All keys</a>} flush>
      {api_keys.length === 0 ? (
        <Empty
          title="No key yet"
          command={`satchel key create --project ${slug} --name web --can read,write`}
        >
          <p>An app shows a key with each request. Make one for each place that runs the app.</p>
          <a class="button primary" href={hrefOf(to`/projects/${slug}/keys/new`)}>
            New key
          </a>
        </Empty>
      ) : (
        <table aria-label="Keys">
          <tbody>
            {api_keys.slice(0, 6).map((key) => (
              <tr key={key.id}>
                <td>
                  <a class="row-link" href={hrefOf(to`/projects/${slug}/keys/${key.id}`)}>
                    {key.name}
                  </a>
                </td>
                <td>
                  <code class="muted one-line">{key.key_prefix}…</code>
                </td>
                <td class="number">
                  <Status of={key.is_active ? 'active' : 'inactive'} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

function About({ project }: { project: ProjectWithKeys }) {
  const url = project.primary_url;
  return (
    <Panel title="About">
      <Facts
        of={[
          ['Slug', <code key="slug">{project.slug}</code>],
          ['Id', <code key="id">{project.public_id}</code>],
          // Only what the API has checked to be a web address becomes a link.
          [
            'Address',
            url && /^https?:/.test(url) ? (
              <a href={url} target="_blank" rel="noreferrer noopener">
                {url}
              </a>
            ) : (
              url
            ),
          ],
          ['Platforms', project.platforms.join(', ') || null],
          ['Created', <Time key="created" at={project.created_at} />],
        ]}
      />
    </Panel>
  );
}
