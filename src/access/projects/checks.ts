/** What `satchel doctor` asks of projects: link domains that do not lead here. */
import { type HealthCheck, ok, warning } from '../../platform/host/health-check.ts';
import type { LinkDomains } from './link-domains.ts';

export function projectChecks({ link_domains }: { link_domains: LinkDomains }): HealthCheck[] {
  const check = 'link domains';
  return [
    {
      check,
      run: () =>
        link_domains
          .list()
          .map(({ slug, link_domain, link_domain_status, link_domain_problem }) =>
            link_domain_problem === null && link_domain_status === 'active'
              ? ok(check, `${link_domain} leads here.`)
              : warning(
                  check,
                  `${link_domain} of the project ${slug} is ${link_domain_status}: ${link_domain_problem ?? 'nobody has asked yet'}.`,
                  `satchel project verify-links ${slug}`,
                ),
          ),
    },
  ];
}
