/** Obstacles to sending a broadcast, each with the way to where it is mended. */
import type { Broadcast } from '../../api.generated.ts';
import { Icon } from '../../components/icon.tsx';
import { to } from '../../router.ts';
import { Mend, type Place, tellLack } from '../marketing/lacking.tsx';
import { isOwnSlug } from '../writing/words.ts';
import type { Check } from './before-it-goes.tsx';

/** No words mend those. */
const OF_THE_TEMPLATE = ['template_inactive', 'template_not_marketing'];

interface ProblemsProps {
  path: { project: string; broadcast: string };
  of: Broadcast;
  problems: Check['problems'];
}

export function Problems(props: ProblemsProps) {
  return (
    <ul class="problems" aria-label="What is missing">
      {props.problems.map((problem) => (
        <li key={`${problem.code} ${problem.message}`}>
          <Icon name="warning" />
          <span>{tellLack(problem)}</span>
          <Mend
            project={props.path.project}
            list={props.of.list}
            code={problem.code}
            place={placeOf(props, problem.code)}
          />
        </li>
      ))}
    </ul>
  );
}

/** The page where a problem of the broadcast itself is mended. */
function placeOf({ path, of }: ProblemsProps, code: string): Place {
  const write = to`/projects/${path.project}/broadcasts/${path.broadcast}/write`;
  const edit = to`/projects/${path.project}/broadcasts/${path.broadcast}/edit`;
  if (OF_THE_TEMPLATE.includes(code) && of.template && !isOwnSlug(of.template))
    return [to`/projects/${path.project}/templates/${of.template}`, 'The template'];
  if (/^(no_template$|unwritten$|template_)/.test(code)) return [write, 'Write the mail'];
  if (code === 'nobody' || code === 'filter_gone') return [edit, 'Change the filter'];
  return [edit, 'Edit the broadcast'];
}
