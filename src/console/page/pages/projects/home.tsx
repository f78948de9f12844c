/** A project at a glance: what happened lately, what failed, its keys, what it is, and while it is new what comes next. */
import type { ProjectWithKeys } from '../../api.generated.ts';
import { Facts } from '../../components/facts.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { useDays } from '../activity-range.tsx';
import { KeysInUse, LastErrors, MailByDay, Numbers } from './activity.tsx';
import { FirstSteps, isNew, isUsed } from './first-steps.tsx';

const REFRESH_MS = 30_000;

export default function ProjectPage({ params }: PageProps<'project'>) {
  const load = useLoad('GET /projects/{project}', { path: params });
  const days = useDays() ?? '7';
  const lately = useLoad(
    'GET /projects/{project}/activity',
    { path: params, query: { days } },
    { every_ms: REFRESH_MS },
  );
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
          <Loaded load={lately}>
            {(activity) => (
              <div class="stack">
                {isNew(loaded, activity) && <FirstSteps project={loaded} activity={activity} />}
                {isUsed(loaded, activity) && (
                  <>
                    <Numbers slug={loaded.slug} activity={activity} />
                    <MailByDay activity={activity} />
                  </>
                )}
                <div class="columns">
                  {isUsed(loaded, activity) && <LastErrors slug={loaded.slug} activity={activity} />}
                  <div class="stack">
                    {loaded.api_keys.length > 0 && <KeysInUse project={loaded} activity={activity} />}
                    <About project={loaded} />
                  </div>
                </div>
              </div>
            )}
          </Loaded>
        )}
      </Loaded>
    </>
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
            'Web site',
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
