// Loads mooring/telemetry, which needs a package that the user installs.

import { UsageError } from '../usage-error.ts';

export async function loadTelemetry(): Promise<typeof import('../../telemetry/index.ts')> {
  try {
    return await import('../../telemetry/index.ts');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UsageError(
      'OpenTelemetry needs a package that is not installed. Run "npm install @opentelemetry/api", or leave out --otel',
    );
  }
}
