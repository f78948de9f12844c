/** What `satchel doctor` tells of image variants: how much they take. */
import { type Finding, type HealthCheck, ok } from '../../platform/host/health-check.ts';
import { measureVariants } from './service.ts';

const CHECK = 'image variants';

export function variantChecks({
  config,
}: {
  config: { data_dir: string; variants_max_bytes: number };
}): HealthCheck[] {
  const run = async (): Promise<Finding[]> => {
    const { count, bytes } = await measureVariants(config.data_dir);
    if (count === 0) return [];
    const [kept, most] = [bytes, config.variants_max_bytes].map((each) => Math.round(each / 1024 / 1024));
    return [
      ok(CHECK, `Kept: ${count}, ${kept} MiB of at most ${most}. They are in no backup, and made again.`),
    ];
  };
  return [{ check: CHECK, run }];
}
