/** A project at a glance: what waits, the present day, what happened lately, its keys, and while it is new what comes next. */
import type { Activity, Project, ProjectWithKeys } from '../../api.generated.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { ButtonLink } from '../../components/button-link.tsx';
import { Facts, Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { Bytes, counted } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { MailOverTime, useDays } from '../home/mail-over-time.tsx';
import { HowMailDoes, Today } from '../home/today.tsx';
import { Waiting } from '../home/waiting.tsx';
import { KeysInUse, LastErrors, SignUps } from './activity.tsx';
import { FirstSteps, isNew, isUsed } from './first-steps.tsx';
import { isSample, removeSample } from './sample.ts';

export default function ProjectPage({ params }: PageProps<'project'>) {
  const load = useLoad('GET /projects/{project}', { path: params });
  const days = useDays() ?? '7';
  const lately = useLoad(
    'GET /projects/{project}/activity',
    { path: params, query: { days } },
    { looks_again: true },
  );
  const project = load.data;
  return (
    <>
      <PageHeader
        title={project?.name ?? 'Project'}
        beside={project && <Status of={project.status} />}
        lead={project?.description}
        actions={<ButtonLink href={hrefOf(to`/projects/${params.project}/settings`)}>Settings</ButtonLink>}
      />
      <Loaded load={load}>
        {(loaded) => (
          <Loaded load={lately}>
            {(activity) => (
              <div class="stack">
                {isSample(loaded) && <SamplePanel project={loaded} />}
                <Waiting of={activity.todo} />
                {isNew(loaded, activity) && !isSample(loaded) && (
                  <FirstSteps project={loaded} activity={activity} />
                )}
                {isUsed(loaded, activity) && (
                  <>
                    <Today of={activity} links={linksOf(loaded)} />
                    <Mail activity={activity} />
                  </>
                )}
                <div class="columns">
                  <div class="stack">
                    {isUsed(loaded, activity) && <LastErrors slug={loaded.slug} activity={activity} />}
                    <SignUps slug={loaded.slug} activity={activity} />
                  </div>
                  <div class="stack">
                    <HowMailDoes rates={activity.rates} />
                    {loaded.api_keys.length > 0 && <KeysInUse project={loaded} activity={activity} />}
                    <Stored project={loaded} storage={activity.storage} />
                  </div>
                </div>
                <About project={loaded} />
              </div>
            )}
          </Loaded>
        )}
      </Loaded>
    </>
  );
}

function linksOf({ slug }: ProjectWithKeys) {
  const mails = hrefOf(to`/projects/${slug}/emails`);
  const failed = `${mails}?status=failed`;
  return { mails, failed, files: hrefOf(to`/projects/${slug}/files`) };
}

function Mail({ activity: { days } }: { activity: Activity }) {
  return (
    <MailOverTime
      unit="day"
      of={days.map(({ date, sent, clicked, failed, bounced, complained }) => ({
        at: date,
        sent,
        clicked,
        amiss: failed + bounced + complained,
      }))}
    />
  );
}

function Stored(props: { project: ProjectWithKeys; storage: Activity['storage'] }) {
  const { project, storage } = props;
  if (storage.objects === 0) return null;
  return (
    <Panel title="Files" actions={<a href={hrefOf(to`/projects/${project.slug}/files`)}>All files</a>}>
      <p>
        {counted(storage.objects, 'file')}, <Bytes of={storage.bytes} />
      </p>
    </Panel>
  );
}

/** Facts that are seldom asked for. */
function About({ project }: { project: ProjectWithKeys }) {
  const url = project.primary_url;
  return (
    <details class="more">
      <summary>About this project</summary>
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
    </details>
  );
}

/** On the home of the sample project: what to try in it, and its end. */
function SamplePanel({ project }: { project: Project }) {
  const { slug } = project;
  return (
    <Panel title="A project to look around in">
      <p class="muted">Nothing that you send here reaches anybody: it is kept, for you to look at.</p>
      <div class="row">
        <ButtonLink kind="primary" href={hrefOf(to`/projects/${slug}/emails/new`)}>
          Send a mail
        </ButtonLink>
        <ButtonLink href={hrefOf(to`/projects/${slug}/emails`)}>See what was sent</ButtonLink>
        <ActionButton act={() => removeSample(project)} done="The sample is removed">
          Remove the sample
        </ActionButton>
      </div>
    </Panel>
  );
}
