/** Obstacles to starting a sequence, each with the way to where it is mended. */
import type { Sequence } from '../../api.generated.ts';
import type { Answer } from '../../api.ts';
import { Icon } from '../../components/icon.tsx';
import { to } from '../../router.ts';
import { LACKS, Mend, type Place } from '../marketing/lacking.tsx';
import { isOwnSlug } from '../writing/words.ts';

type Check = Answer<'GET /projects/{project}/email-sequences/{sequence}/check'>;
type Problem = Check['problems'][number];

/** Saving the steps ends each track with its last, and whoever has none sees where to write them. */
const MENDED_BY_SAVING = ['track_end', 'no_steps'];

/** No words mend those. */
const OF_THE_TEMPLATE = ['template_inactive', 'template_not_marketing'];

interface ProblemsProps {
  path: { project: string; sequence: string };
  of: Sequence;
  problems: readonly Problem[];
}

export function Problems(props: ProblemsProps) {
  return (
    <ul class="problems" aria-label="What is missing">
      {props.problems.map((problem) => (
        <li key={`${problem.code} ${problem.step ?? ''} ${problem.message}`}>
          <Icon name="warning" />
          <span>
            {problem.step !== undefined && (
              <>
                <strong>{problem.step}</strong>:{' '}
              </>
            )}
            {tell(problem)}
          </span>
          {!MENDED_BY_SAVING.includes(problem.code) && (
            <Mend
              project={props.path.project}
              list={props.of.list}
              code={problem.code}
              place={placeOf(props, problem)}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

/** In the words of the page, where the API speaks of its own fields. */
function tell({ code, message }: Problem): string {
  if (code === 'track_end') return 'Its track does not end with its last step: saving the steps mends that.';
  if (code === 'unwritten') return LACKS.unwritten;
  return message.replace(/^route_to names/, 'It leads to').replace('max_recipients', 'their maximum number');
}

/** The page where a problem of the sequence itself is mended. */
function placeOf({ path, of }: ProblemsProps, { code, step }: Problem): Place {
  const here = to`/projects/${path.project}/sequences/${path.sequence}`;
  const at_step = step === undefined ? here : `${here}?step=${encodeURIComponent(step)}`;
  if (code === 'too_many_recipients') return [`${here}?tab=settings`, 'Settings'];
  if (code === 'template_missing') return [at_step, 'Choose another'];
  const template = of.steps.find(({ key }) => key === step)?.template;
  if (OF_THE_TEMPLATE.includes(code) && template && !isOwnSlug(template))
    return [to`/projects/${path.project}/templates/${template}`, 'The template'];
  if ((code === 'unwritten' || code.startsWith('template_')) && step !== undefined)
    return [`${here}/steps/${encodeURIComponent(step)}/write`, 'Write the mail'];
  return [at_step, 'Edit the step'];
}
