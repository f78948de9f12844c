/**
 * What `satchel doctor` asks of email marketing: which campaigns paused by themselves, or could not begin, whose A/B waits for
 * somebody, and whether links lead anywhere and keys open.
 */
import type { Projects } from '../access/projects/service.ts';
import {
  act,
  aside,
  type HealthCheck,
  ok,
  problem,
  sealedCheck,
  warning,
} from '../platform/host/health-check.ts';
import type { MarketingSettings } from './settings/service.ts';

interface Pausing {
  readonly what: 'sequence' | 'broadcast';
  listPausedByThemselves(): { id: string; name: string; project_id: number; why: string }[];
}
interface Needs {
  sequences: Pausing;
  broadcasts: Pausing & {
    listUndecided(): { id: string; name: string; project_id: number; is_paused: boolean }[];
  };
  projects: Projects;
}

export function campaignChecks({ sequences, broadcasts, projects }: Needs): HealthCheck[] {
  const checkOf = (campaigns: Pausing, mend: string): HealthCheck => {
    const check = `${campaigns.what}s`;
    return {
      check,
      run() {
        const paused = campaigns.listPausedByThemselves().map(({ id, name, project_id, why }) => {
          const slug = projects.findById(project_id)?.slug ?? '';
          const message = `The ${campaigns.what} ${name} of the project ${slug} has paused: ${why}`;
          const resume = act(`resume_${campaigns.what}`, id, slug);
          return aside(id, warning(check, message, `${mend} ${id}`, [resume]));
        });
        return paused.length > 0 ? paused : [ok(check, 'None has paused by itself.')];
      },
    };
  };
  const undecided: HealthCheck = {
    check: 'A/B tests',
    run() {
      const waiting = broadcasts.listUndecided().map(({ id, name, project_id, is_paused }) => {
        const slug = projects.findById(project_id)?.slug ?? '';
        const message = `The A/B of the broadcast ${name} of the project ${slug} has waited for three days or more to be decided.`;
        const decide = `satchel broadcast decide ${id} --variant NAME`;
        const resume = [act('resume_broadcast', id, slug)];
        const finding = is_paused
          ? warning('A/B tests', message, `satchel broadcast resume ${id}`, resume)
          : warning('A/B tests', message, decide);
        return aside(id, finding);
      });
      return waiting.length > 0 ? waiting : [ok('A/B tests', 'None waits to be decided for days.')];
    },
  };
  return [
    checkOf(sequences, 'satchel sequence why'),
    checkOf(broadcasts, 'satchel broadcast resume'),
    undecided,
  ];
}

export function marketingChecks({
  marketing,
  projects,
  lists,
}: {
  marketing: MarketingSettings;
  projects: Projects;
  lists: { problemOfConfirmations(project_id: number): string | null };
}): HealthCheck[] {
  return [
    {
      check: 'public URL',
      run() {
        const told = projects
          .listAll({})
          .map(({ id }) => marketing.problemOfLinks(id) ?? lists.problemOfConfirmations(id));
        const words = told.find((one) => one !== null);
        const remedy =
          'set SATCHEL_PUBLIC_URL to the address by which readers reach this server, and start it again';
        return words ? [problem('public URL', words, remedy)] : [];
      },
    },
    sealedCheck(() =>
      projects
        .listAll({})
        .filter((project) => !marketing.hasUsableKey(project))
        .map((project) => ({
          message: `The marketing key of project ${project.slug} does not open: nobody can be added to its lists or leave them.`,
          remedy: 'satchel restore FILE --yes, with the master key of that backup',
        })),
    ),
  ];
}
