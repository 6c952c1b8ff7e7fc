# Covey beside ROS 2 Jazzy: docker build -f release/ros.Dockerfile -t covey-ros .
#   docker run --rm --network host covey-ros covey ros run office
#   docker run --rm --network host covey-ros ros2 topic list
FROM ros:jazzy
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv ros-jazzy-rmw-cyclonedds-cpp && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home covey && install -d -o covey /work /opt/covey
COPY pyproject.toml README.md LICENSE CHANGELOG.md /source/
COPY release/readme.py /source/release/
COPY src /source/src
USER covey
# an environment of its own: Covey speaks DDS itself, and needs nothing of ROS
RUN python3 -m venv /opt/covey && /opt/covey/bin/pip install --no-cache-dir --no-compile "/source[ros2]"
ENV PATH=/opt/covey/bin:$PATH NUMBA_CPU_NAME=generic RMW_IMPLEMENTATION=rmw_cyclonedds_cpp
WORKDIR /work
RUN covey run maze -q --out /tmp/warm && rm -r /tmp/warm
ENTRYPOINT ["/ros_entrypoint.sh"]
CMD ["covey", "--help"]
