/** `satchel domain reports`: who sends in the name of a domain, by what receivers report. */
import { invalid } from '../../errors.ts';
import { formatTable } from '../../platform/cli/tables.ts';
import type { Noun } from '../../platform/cli/verb.ts';
import { DOMAIN_REPORTS_DAYS, type DomainReports, type DomainReportsRecord } from './service.ts';

/** Registers `satchel domain reports`. */
export function registerDomainReportCommand(domain: Noun<{ domain_reports: DomainReports }>): void {
  domain
    .verb('reports <name>', 'who sends in its name and what fails, by what receivers report (DMARC, TLS)')
    .remark(
      'Reports are read where they arrive: satchel mailbox change ADDRESS --inbox, and the rua= that "satchel domain verify" prints.',
    )
    .example('satchel domain reports mail.example.com --days 7')
    .option('--days <days>', `the last days, up to ${DOMAIN_REPORTS_DAYS} (default: 30)`)
    .does(async ({ services }, options, name) => {
      const days = options.days === undefined ? 30 : Number(options.days);
      if (!Number.isInteger(days) || days < 1 || days > DOMAIN_REPORTS_DAYS)
        throw invalid({ days: [`must be a whole number from 1 to ${DOMAIN_REPORTS_DAYS}`] });
      const reports = services.domain_reports.get(name, days);
      return { json: reports, text: present(name, reports) };
    });
}

function present(name: string, reports: DomainReportsRecord): string {
  const { from, to, organizations, total, aligned, policy, sources, tls } = reports;
  if (organizations.length === 0)
    return `Nobody reported of ${name} from ${from} to ${to}. Reports come to the address in rua= of its DMARC record: satchel domain verify ${name}`;
  const table = formatTable(
    sources.map(({ ip, count, dkim_aligned, spf_aligned, ours, words }) => ({
      ip,
      mails: count,
      dkim: dkim_aligned,
      spf: spf_aligned,
      ours,
      words,
    })),
    'No mail in its name was reported.',
  );
  const reasons = Object.entries(tls.by_reason).map(([reason, n]) => `${reason} ${n}`);
  return `From ${from} to ${to}, by ${organizations.join(', ')}: ${aligned} of ${total} mails passed DKIM or SPF in its name. Policy: ${policy ?? 'not reported'}.

${table}

TLS of mail to it: ${tls.failed} of ${tls.sessions} sessions failed${reasons.length > 0 ? ` (${reasons.join(', ')})` : ''}.`;
}
