/** Archiving a template, so that it is sent no more; and deleting it. */
import type { Template } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Ending } from '../../components/confirm-by-name.tsx';
import { Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf, navigate, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import type { TemplatePath } from './detail.tsx';

export function TemplateEnd(props: { path: TemplatePath; template: Template; onArchive(): Promise<void> }) {
  const { path, template, onArchive } = props;
  const { project, slug } = path;
  const using = useLoad('GET /projects/{project}/email-schedules', {
    path: { project },
    query: { template: slug },
  });
  const schedules = using.data?.meta.total ?? 0;
  const remove = async (): Promise<void> => {
    await call('DELETE /projects/{project}/email-templates/{slug}', { path });
    toast(`Template ${template.name} is deleted`);
    navigate(to`/projects/${project}/templates`, { replace: true });
  };
  return (
    <>
      <Panel
        title={template.is_active ? 'Archive' : 'Archived'}
        lead={
          template.is_active
            ? 'Sends of it are refused, until it is restored. Mails that were accepted go out all the same.'
            : 'Sends of it are refused at the moment. It is kept as it is.'
        }
      >
        <ActionButton act={onArchive}>
          {template.is_active ? 'Archive the template' : 'Restore it'}
        </ActionButton>
      </Panel>
      <Ending
        title="Delete the template"
        lead="Its slug is free again. Mails that were accepted are sent all the same."
        name={template.name}
        act={remove}
      >
        Apps that name it are refused.{' '}
        {schedules > 0 ? (
          <>
            <a href={`${hrefOf(to`/projects/${project}/schedules`)}?template=${encodeURIComponent(slug)}`}>
              {counted(schedules, 'schedule')}
            </a>{' '}
            of the project would send nothing without it.
          </>
        ) : (
          'No schedule of the project sends it.'
        )}{' '}
        It cannot be brought back, but from a backup.
      </Ending>
    </>
  );
}
