{{- define "openbook.name" -}}
{{- if contains "openbook" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-openbook{{ end }}
{{- end }}

{{- define "openbook.labels" -}}
app.kubernetes.io/name: openbook
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "openbook.selector" -}}
app.kubernetes.io/name: openbook
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end }}

{{- define "openbook.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "openbook.secret" -}}
{{ .Values.existingSecret | default (include "openbook.name" .) }}
{{- end }}

{{- define "openbook.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "openbook.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "openbook.env" -}}
- {name: OPENBOOK_HOME, value: /var/lib/openbook}
- {name: HOME, value: /tmp}
- {name: OPENBOOK_SERVER_HOSTS, value: {{ join "," .Values.hosts | quote }}}
{{- $env := .Values.env }}
{{- if .Values.uploadsClaim }}
{{- $env = omit $env "OPENBOOK_UPLOADS" }}
{{- end }}
{{- range $name, $value := $env }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- end }}

{{- define "openbook.envFrom" -}}
{{- if or .Values.existingSecret .Values.secrets }}
envFrom:
  - secretRef: {name: {{ include "openbook.secret" . }}}
{{- end }}
{{- end }}
